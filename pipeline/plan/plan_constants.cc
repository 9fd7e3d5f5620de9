#include "pipeline/plan/plan_constants.h"

namespace bloomring {

std::span<const PlanConstant* const> plan_constants() {
  static constexpr const PlanConstant* kAll[] = {
      &kChainCpu,      &kIngestCpu,     &kPlayRecordBytes, &kReplicaCpu,       &kReplicaRebuild,   &kWindowRebuild,
      &kDrainCpu,      &kDrainPassCpu,  &kMergeEmbedded,   &kMergeRedis,       &kCallCpu,          &kCandidateCpu,
      &kRecentPlayBytes, &kServerMemory, &kSortedSetEntry, &kPlaysOfUser,      &kPlaysSigma,       &kRepeats,
      &kPeak,          &kSessionPlays,  &kCallPlays,       &kServes,           &kCoreShare,        &kRoomShare,
      &kKafkaRecordBytes, &kServedItemBytes, &kServedUserBytes, &kEntryBytes,  &kStoreSlack,       &kWriteFactor,
      &kDiskReadRate};
  return kAll;
}

}  // namespace bloomring
