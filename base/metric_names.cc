#include "base/metric_names.h"

namespace bloomring::metric {
namespace {

constexpr const MetricDecl* kAll[] = {
    &kIngestRecords,      &kIngestBytes,     &kIngestRefused,  &kBlocks,       &kBlockBytes,     &kBlockEvents,
    &kEventToLog,         &kDeadLetters,     &kProcessingLag,  &kCustodyLag,   &kAppliedOffset,  &kCommittedOffset,
    &kAssignedPartitions, &kRebalances,      &kCommits,        &kStageUp,      &kStageReady,     &kLastEventTime,
    &kWindowRecords,      &kWindowEvents,    &kMergedOffset,   &kSlotState,    &kOldestUnmerged, &kDrains,
    &kDrainSeconds,       &kBatches,         &kBatchBytes,     &kBatchPlays,   &kStateBytes,     &kMergeRecords,
    &kMergedPlays,        &kExpiredPlays,    &kMergeSeconds,   &kStoreUpdates, &kStoreBytes,     &kStorePhysicalBytes,
    &kStoreDiskBytes,     &kStoreErrors,     &kServeRecords,   &kServeEvents,  &kEventToSeen,    &kQuerySeconds,
    &kQueryCandidates,    &kCandidates,      &kRecentEntries,  &kRecentBytes,  &kBuildInfo,      &kLogMessages,
    &kProcessCpu,         &kProcessResident, &kProcessVirtual, &kProcessFds,   &kProcessFdsMax,  &kProcessStart,
};

}  // namespace

std::span<const MetricDecl* const> all() { return kAll; }

}  // namespace bloomring::metric
