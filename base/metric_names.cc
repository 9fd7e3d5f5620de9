#include "base/metric_names.h"

namespace bloomring::metric {
namespace {

constexpr const MetricDecl* kAll[] = {
    &kIngestRecords,      &kIngestRefused,  &kBlocks,       &kBlockBytes,     &kDeadLetters,     &kProcessingLag,  &kCustodyLag,   &kAppliedOffset,  &kCommittedOffset,
    &kAssignedPartitions, &kRebalances,      &kCommits,        &kStageUp,      &kStageReady,     &kRebuildEventsLeft, &kRebuildRate, &kRebuildSecondsLeft, &kStalledTasks, &kWindowRecords,      &kWindowEvents,    &kMergedOffset,   &kSlots,         &kSlotState,    &kOldestUnmerged, &kDrains, &kDrainsAbandoned,
    &kBatches,         &kBatchPlays,   &kCustodyGap, &kMergeRecords,
    &kMergedPlays,        &kExpiredPlays,    &kForgottenPlays,  &kMergedForgets,   &kStoreUpdates, &kStoreBytes,     &kStorePhysicalBytes,
    &kStoreDiskBytes,     &kStoreBackups, &kStoreBackupTime, &kStoreErrors,     &kServeRecords,   &kServeEvents,  &kEventToSeen,    &kQuerySeconds,
    &kCandidates,      &kAnswersSaturated, &kCallsInFlight, &kCallsRefused, &kCallsForwarded,
    &kAnswersIncomplete, &kAnswersRelaxed, &kAnswerExpectedError, &kFilterCacheLookups, &kFilterCacheEvictions, &kFilterCacheUsers,
    &kFilterCacheBytes, &kFilterCacheBytesMax, &kRecentEntries,  &kRecentBytes,  &kServedEntries, &kServedBytes, &kBuildInfo,      &kLogMessages,
    &kProcessCpu,         &kProcessResident, &kProcessVirtual, &kProcessFds,   &kProcessFdsMax,  &kProcessStart,
};

}  // namespace

std::span<const MetricDecl* const> all() { return kAll; }

}  // namespace bloomring::metric
