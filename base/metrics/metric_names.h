// The table of all metrics: declared once here, used by every folder, printed by `bloomring reference metrics`.
//
// Words are those of the glossary. A lag is a number of log records:
//   processing  log end minus applied: a backlog.
//   custody     log end minus committed: by design at least the records of the ring. After the loss of a disk, a
//               stage reads this many records again.
// An absent series means unknown; no gauge uses -1.
#pragma once

#include <span>

#include "base/metrics/metrics.h"

namespace bloomring::metric {

// Why a stage refuses a record. The list is closed: the schemas name their refusals by these words.
inline constexpr std::string_view kRefusalReasons =
    "malformed_json|missing_field|wrong_type|empty_id|id_too_long|time_too_early|time_ahead|unknown_event|too_large|"
    "not_utf8|bad_block|bad_batch|unknown_scene";
inline constexpr std::string_view kStages = "";  // Any: the topology names them.
inline constexpr std::string_view kMethods = "Filter|FilterBatch|GetSnapshot|RecordServed|Forget";
inline constexpr std::string_view kGrpcCodes =
    "OK|CANCELLED|UNKNOWN|INVALID_ARGUMENT|DEADLINE_EXCEEDED|NOT_FOUND|ALREADY_EXISTS|PERMISSION_DENIED|"
    "RESOURCE_EXHAUSTED|FAILED_PRECONDITION|ABORTED|OUT_OF_RANGE|UNIMPLEMENTED|INTERNAL|UNAVAILABLE|DATA_LOSS|"
    "UNAUTHENTICATED";
// The value of the label `partition` where metrics.per_partition is off: one series for all partitions.
inline constexpr std::string_view kAllPartitions = "all";

// From a millisecond to an hour, for delays; a play is filtered within 0.2 s when all is well.
inline constexpr double kDelayBuckets[] = {0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600};
// From 50 us to 1 s, for queries; the budget is 2 ms at p99.
// Callers give up between 25 and 100 ms: the examples' deadline is 50.
inline constexpr double kQueryBuckets[] = {0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.005, 0.01,
                                           0.025,   0.035,  0.05,    0.075,  0.1,   0.25,  1};

// Around the budget of 1 %; a user with few plays is far below.
inline constexpr double kErrorBuckets[] = {0.00001, 0.0001, 0.001, 0.0025, 0.005, 0.0075, 0.01, 0.02, 0.05, 0.1};

// --- ingest ---
inline constexpr MetricDecl kIngestRecords{
    "bloomring_ingest_records_total",
    MetricType::kCounter,
    "Play records read, by result: accepted into a block, refused to the dead-letter topic, dropped as a repeat, or "
    "skipped by the configuration (bloomring_ingest_skipped_total).",
    {{{"result", "accepted|refused|repeat|skipped"}}}};
inline constexpr MetricDecl kIngestRefused{"bloomring_ingest_refused_total",
                                           MetricType::kCounter,
                                           "Play records refused, by reason.",
                                           {{{"reason", kRefusalReasons}}}};
inline constexpr MetricDecl kIngestRefusedShare{
    "bloomring_ingest_refused_share", MetricType::kGauge,
    "Refused share of the play records that this process has read within the last minute; 0 when it has read none."};
inline constexpr MetricDecl kIngestSkipped{
    "bloomring_ingest_skipped_total",
    MetricType::kCounter,
    "Records that the configuration skips, by reason: events.kinds ignores their kind, or the view is shorter than "
    "events.view_share_min and events.view_ms_min.",
    {{{"why", "ignored_kind|short_view"}}}};
inline constexpr MetricDecl kIngestAhead{
    "bloomring_ingest_ahead_total",
    MetricType::kCounter,
    "Events that were ahead of the brokers' clock, by at most events.ahead_seconds (within) or by more (beyond). "
    "They count at the time at which they were read.",
    {{{"by", "within|beyond"}}}};
inline constexpr MetricDecl kIngestClockOffset{
    "bloomring_ingest_clock_offset_seconds", MetricType::kGauge,
    "This machine's clock minus the brokers', by the last acknowledgement. It includes the time that the "
    "acknowledgement travelled."};
inline constexpr MetricDecl kBlocks{"bloomring_blocks_total", MetricType::kCounter,
                                    "Event blocks closed and handed to the Kafka client."};
inline constexpr MetricDecl kBlockBytes{"bloomring_block_bytes_total", MetricType::kCounter,
                                        "Bytes of these event blocks, before compression."};

// --- every stage ---
inline constexpr MetricDecl kDeadLetters{
    "bloomring_dead_letters_total",
    MetricType::kCounter,
    "Records refused to the dead-letter topic, by stage and reason.",
    {{{"stage", kStages}, {"reason", kRefusalReasons}}}};
inline constexpr MetricDecl kProcessingLag{
    "bloomring_processing_lag_records",
    MetricType::kGauge,
    "Log records at or after the applied offset: the backlog of a stage, by partition.",
    {{{"stage", kStages}, {"topic", ""}, {"partition", ""}}}};
inline constexpr MetricDecl kBehind{
    "bloomring_behind_seconds",
    MetricType::kGauge,
    "Time since a broker was asked for the end of the log that a stage has reached, by partition. Records written "
    "later may not be applied yet. Rises while no broker answers, and from 0 when a partition begins. A steady "
    "clock measures it.",
    {{{"stage", kStages}, {"topic", ""}, {"partition", ""}}}};
inline constexpr MetricDecl kCustodyLag{
    "bloomring_custody_lag_records",
    MetricType::kGauge,
    "Log records at or after the committed offset. Not a backlog: for the window stage it is by design at least the "
    "records on the ring.",
    {{{"stage", kStages}, {"topic", ""}, {"partition", ""}}}};
inline constexpr MetricDecl kAppliedOffset{"bloomring_applied_offset",
                                           MetricType::kGauge,
                                           "Next offset that a stage will apply, by partition.",
                                           {{{"stage", kStages}, {"topic", ""}, {"partition", ""}}}};
inline constexpr MetricDecl kCommittedOffset{"bloomring_committed_offset",
                                             MetricType::kGauge,
                                             "Offset last committed for the group of a stage, by partition.",
                                             {{{"stage", kStages}, {"topic", ""}, {"partition", ""}}}};
inline constexpr MetricDecl kAssignedPartitions{"bloomring_assigned_partitions",
                                                MetricType::kGauge,
                                                "Partitions that a stage of this process holds.",
                                                {{{"stage", kStages}}}};
inline constexpr MetricDecl kRebalances{"bloomring_rebalances_total",
                                        MetricType::kCounter,
                                        "Changes of a stage's assignment by its consumer group.",
                                        {{{"stage", kStages}, {"kind", "assign|revoke|lost"}}}};
inline constexpr MetricDecl kCommits{
    "bloomring_commits_total",
    MetricType::kCounter,
    "Commits of offsets, by result. After a failed commit, records are read again; none is lost.",
    {{{"stage", kStages}, {"result", "ok|failed"}}}};
inline constexpr MetricDecl kStageUp{"bloomring_stage_up",
                                     MetricType::kGauge,
                                     "1 while a stage runs in this process, 0 when it has stopped on a failure.",
                                     {{{"stage", kStages}}}};
inline constexpr MetricDecl kStageReady{
    "bloomring_stage_ready",
    MetricType::kGauge,
    "1 while a stage works on all partitions that it was assigned, 0 while it starts or rebuilds.",
    {{{"stage", kStages}}}};
inline constexpr MetricDecl kRebuildEventsLeft{
    "bloomring_rebuild_events_left",
    MetricType::kGauge,
    "Events that a stage still has to read back, of those that the log held when its partitions started; 0 when it "
    "is done.",
    {{{"stage", "window|serve"}}}};
inline constexpr MetricDecl kRebuildRate{"bloomring_rebuild_events_per_second",
                                         MetricType::kGauge,
                                         "Rate at which a stage has read back since it began; 0 when it is done.",
                                         {{{"stage", "window|serve"}}}};
inline constexpr MetricDecl kRebuildSecondsLeft{"bloomring_rebuild_seconds_left",
                                                MetricType::kGauge,
                                                "Time until reading back is done at that rate; 0 when it is done.",
                                                {{{"stage", "window|serve"}}}};
inline constexpr MetricDecl kBrokerSilence{
    "bloomring_broker_silence_seconds", MetricType::kGauge,
    "Time since a broker last answered this process, which asks one each second."};
inline constexpr MetricDecl kBrokerConnections{
    "bloomring_broker_connections",
    MetricType::kGauge,
    "Connections that the Kafka clients of this process need, one from each client to each broker that it uses, by "
    "state, as the clients last reported.",
    {{{"state", "up|down"}}}};
inline constexpr MetricDecl kBrokerDisconnects{"bloomring_broker_disconnects_total", MetricType::kCounter,
                                               "Connections to brokers that ended, whichever side closed them."};
inline constexpr MetricDecl kBrokerRoundTrip{
    "bloomring_broker_round_trip_seconds", MetricType::kGauge,
    "Longest of the mean round trips of the connections to brokers, as the Kafka clients last reported."};
inline constexpr MetricDecl kProducerRecords{
    "bloomring_producer_records_total",
    MetricType::kCounter,
    "Records handed to the Kafka client of this process (blocks, batches, dead letters), by result.",
    {{{"result", "delivered|failed"}}}};
inline constexpr MetricDecl kProducerInFlight{
    "bloomring_producer_in_flight_records", MetricType::kGauge,
    "Records that the Kafka client has accepted and the brokers have not acknowledged yet."};
inline constexpr MetricDecl kStalledTasks{
    "bloomring_stalled_tasks", MetricType::kGauge,
    "Tasks and other work of the process's threads that have made no step for process.stall_seconds."};

// --- window ---
inline constexpr MetricDecl kWindowRecords{"bloomring_window_records_total", MetricType::kCounter,
                                           "Event blocks applied to the ring."};
inline constexpr MetricDecl kWindowEvents{"bloomring_window_events_total", MetricType::kCounter,
                                          "Events applied to the ring."};
inline constexpr MetricDecl kWindowBytes{"bloomring_window_bytes_total", MetricType::kCounter,
                                         "Bytes of the event blocks applied to the ring."};
inline constexpr MetricDecl kHoursReleased{"bloomring_window_released_total", MetricType::kCounter,
                                           "Hours of the log removed from the ring because they are merged."};
inline constexpr MetricDecl kMergedOffset{
    "bloomring_merged_offset",
    MetricType::kGauge,
    "Merged watermark: every event of the log below this offset is in the filter store, by partition.",
    {{{"partition", ""}}}};
inline constexpr MetricDecl kSlots{"bloomring_slots",
                                   MetricType::kGauge,
                                   "Slots of all partitions that this process holds, by state.",
                                   {{{"state", "filling|sealed|draining|merged|free"}}}};
inline constexpr MetricDecl kSlotState{
    "bloomring_slot_state",
    MetricType::kGauge,
    "State of each slot on the ring of each partition: 1 for the state that the slot is in.",
    {{{"partition", ""}, {"slot", ""}, {"state", "filling|sealed|draining|merged|free"}}}};
inline constexpr MetricDecl kOldestUnmerged{
    "bloomring_oldest_unmerged_slot_timestamp_seconds",
    MetricType::kGauge,
    "Log time at which the oldest sealed and not yet merged slot of a partition began.",
    {{{"partition", ""}}}};
inline constexpr MetricDecl kFillingAge{
    "bloomring_filling_slot_age_seconds",
    MetricType::kGauge,
    "Time since the filling slot of a partition got its first record, or since this process took the partition "
    "over; 0 while the slot holds none. Above two slot lengths, slots do not end.",
    {{{"partition", ""}}}};
inline constexpr MetricDecl kDrains{
    "bloomring_drains_total",
    MetricType::kCounter,
    "Drains of slots started, by attempt: in the hour after the slot's own, an hour later, or a lap later.",
    {{{"attempt", "first|second|lap"}}}};
inline constexpr MetricDecl kDrainsAbandoned{
    "bloomring_drains_abandoned_total", MetricType::kCounter,
    "Drains abandoned because all of their hours were merged meanwhile."};
inline constexpr MetricDecl kDrainsFailed{"bloomring_drains_failed_total", MetricType::kCounter,
                                          "Drains that failed. The window stage starts them again."};
inline constexpr MetricDecl kUnreadBatches{
    "bloomring_unread_batch_records",
    MetricType::kGauge,
    "Records of user-batches that the merge stage has not committed, as the window stage last read, by partition.",
    {{{"partition", ""}}}};
inline constexpr MetricDecl kBatches{"bloomring_batches_total", MetricType::kCounter,
                                     "User batches acknowledged by the log."};
inline constexpr MetricDecl kBatchPlays{"bloomring_batch_plays_total", MetricType::kCounter,
                                        "Plays in the user batches acknowledged by the log."};

inline constexpr MetricDecl kCustodyGap{"bloomring_custody_gap_records",
                                        MetricType::kGauge,
                                        "Records that are not merged and that the log has already removed, by "
                                        "partition. They exist only in the local state of the process that holds "
                                        "the partition. 0 when all is well.",
                                        {{{"partition", ""}}}};

// --- merge ---
inline constexpr MetricDecl kMergeRecords{"bloomring_merge_records_total",
                                          MetricType::kCounter,
                                          "Records of the batch topic applied, by kind.",
                                          {{{"kind", "batch|slot_end"}}}};
inline constexpr MetricDecl kMergedBatches{"bloomring_merged_batches_total", MetricType::kCounter,
                                           "User batches united with filters."};
inline constexpr MetricDecl kCoveredRecords{"bloomring_covered_records_total", MetricType::kCounter,
                                            "Records of user-batches skipped because they were merged before."};
inline constexpr MetricDecl kIncompleteSlotEnds{
    "bloomring_slot_ends_incomplete_total", MetricType::kCounter,
    "Slot ends read without all of their batches; the watermark does not move for them, and the slot is drained "
    "again."};
inline constexpr MetricDecl kWatermarkMoves{"bloomring_watermark_moves_total", MetricType::kCounter,
                                            "Advances of merged watermarks."};
inline constexpr MetricDecl kMergedPlays{"bloomring_merged_plays_total", MetricType::kCounter,
                                         "Plays united with filters."};
inline constexpr MetricDecl kExpiredPlays{"bloomring_expired_plays_total", MetricType::kCounter,
                                          "Plays skipped because the filter of their period has expired."};
inline constexpr MetricDecl kForgottenPlays{
    "bloomring_forgotten_plays_total", MetricType::kCounter,
    "Plays skipped because the user had forgotten them: late ones and replays."};
inline constexpr MetricDecl kMergedForgets{"bloomring_merged_forgets_total", MetricType::kCounter,
                                           "Forgets taken into the filter store."};
inline constexpr MetricDecl kForgottenDamaged{
    "bloomring_forgotten_damaged_total", MetricType::kCounter,
    "User batches merged although some forgets of the user could not be read from the filter store. Answers about "
    "such a user have a gap. 0 when all is well; `bloomring store check` names the keys."};
inline constexpr MetricDecl kStoreUpdates{"bloomring_store_updates_total", MetricType::kCounter,
                                          "Updates of filters handed to the filter store."};
inline constexpr MetricDecl kStoreBytes{"bloomring_store_bytes_total", MetricType::kCounter,
                                        "Bytes of keys and values handed to the filter store."};
inline constexpr MetricDecl kStorePhysicalBytes{
    "bloomring_store_physical_bytes_total", MetricType::kCounter,
    "Bytes that the embedded filter store has written to disk for these updates: log, flush and compaction."};
inline constexpr MetricDecl kStoreDiskBytes{"bloomring_store_disk_bytes", MetricType::kGauge,
                                            "Bytes on disk of the embedded filter store."};
inline constexpr MetricDecl kStoreExpiredUpdates{
    "bloomring_store_expired_updates_total", MetricType::kCounter,
    "Updates not written because their filter has expired."};
inline constexpr MetricDecl kStoreExpired{"bloomring_store_expired_total", MetricType::kCounter,
                                          "Filters, or parts of them, that expiry has removed from the store."};
inline constexpr MetricDecl kStoreRefused{
    "bloomring_store_refused_total", MetricType::kCounter,
    "Stored values that reads and compactions of this process refused as no filters of their key. 0 when all is "
    "well; `bloomring store check` names the keys."};
inline constexpr MetricDecl kStoreTableFiles{"bloomring_store_table_files", MetricType::kGauge,
                                             "Table files of the embedded filter store."};
inline constexpr MetricDecl kStoreOpenFilesMax{"bloomring_store_open_files_max", MetricType::kGauge,
                                               "Table files that this process may have open at once."};
inline constexpr std::string_view kRocksStores = "filters|window";
inline constexpr MetricDecl kRocksWriteStopped{
    "bloomring_rocksdb_write_stopped",
    MetricType::kGauge,
    "1 while RocksDB blocks all writes, by store: the filter store, or any of the window stores.",
    {{{"store", kRocksStores}}}};
inline constexpr MetricDecl kRocksStall{"bloomring_rocksdb_stall_seconds_total",
                                        MetricType::kCounter,
                                        "Time that writes waited because flushes or compactions are behind, by store.",
                                        {{{"store", kRocksStores}}}};
inline constexpr MetricDecl kRocksPending{"bloomring_rocksdb_pending_compaction_bytes",
                                          MetricType::kGauge,
                                          "Bytes that compactions still have to rewrite, by RocksDB's estimate, by "
                                          "store.",
                                          {{{"store", kRocksStores}}}};
inline constexpr MetricDecl kRocksErrors{"bloomring_rocksdb_background_errors_total",
                                         MetricType::kCounter,
                                         "Failed flushes and compactions, by store. 0 when all is well.",
                                         {{{"store", kRocksStores}}}};
inline constexpr MetricDecl kRocksCache{"bloomring_rocksdb_block_cache_lookups_total",
                                        MetricType::kCounter,
                                        "Lookups in the block cache, by store.",
                                        {{{"store", kRocksStores}, {"result", "hit|miss"}}}};
inline constexpr MetricDecl kStoreBackups{"bloomring_store_backups_total",
                                          MetricType::kCounter,
                                          "Backups of the embedded filter store by this process.",
                                          {{{"result", "ok|failed"}}}};
inline constexpr MetricDecl kStoreBackupTime{"bloomring_store_backup_timestamp_seconds", MetricType::kGauge,
                                             "Time at which the newest backup of the embedded filter store was taken."};
inline constexpr MetricDecl kStoreErrors{
    "bloomring_store_errors_total",
    MetricType::kCounter,
    "Failed operations on the filter store; `apply` counts all those of the merge stage.",
    {{{"op", "apply|read|refresh"}}}};

// --- serve ---
inline constexpr MetricDecl kServePartitions{
    "bloomring_serve_partitions",
    MetricType::kGauge,
    "Partitions of this replica, by state: ready, catching up, or waiting for a leader or for the log that the "
    "store was filled from. Calls about partitions that are not ready are passed on or refused.",
    {{{"state", "ready|catching_up|waiting"}}}};
inline constexpr MetricDecl kServeRecords{"bloomring_serve_records_total", MetricType::kCounter,
                                          "Event blocks applied to the recent plays."};
inline constexpr MetricDecl kServeEvents{"bloomring_serve_events_total", MetricType::kCounter,
                                         "Events applied to the recent plays."};
inline constexpr MetricDecl kServeBadBlocks{
    "bloomring_serve_bad_blocks_total", MetricType::kCounter,
    "Records of user-events that are no event blocks and were skipped. The window stage writes their dead letters."};
inline constexpr MetricDecl kEventToSeen{
    "bloomring_event_to_seen_seconds",
    MetricType::kHistogram,
    "Delay from the write of an event to the log until queries see it; each event of a block counts. Computed from "
    "the brokers' times and this machine's steady clock, relative to the fastest block so far.",
    {},
    kDelayBuckets};
inline constexpr MetricDecl kQuerySeconds{
    "bloomring_query_seconds",
    MetricType::kHistogram,
    "Time to answer a call, by method and gRPC status code. A batch is one call.",
    {{{"method", kMethods}, {"code", kGrpcCodes}}},
    kQueryBuckets};
inline constexpr MetricDecl kCandidates{"bloomring_candidates_total",
                                        MetricType::kCounter,
                                        "Candidates answered, by verdict: unseen, or seen with the reason.",
                                        {{{"verdict", "unseen|client|served|recent|filter"}}}};
inline constexpr MetricDecl kCallsInFlight{"bloomring_calls_in_flight", MetricType::kGauge,
                                           "Calls that the query service is answering now."};
inline constexpr MetricDecl kCallsRefused{
    "bloomring_calls_refused_total",
    MetricType::kCounter,
    "Calls, and requests of batches, that were refused, by cause: bad input, a partition that no replica could "
    "answer for, too many calls or reads at once, a deadline that had passed, or an incomplete answer to a strict "
    "call.",
    {{{"cause", "invalid|unavailable|overload|deadline|strict"}}}};
inline constexpr MetricDecl kCallsForwarded{
    "bloomring_calls_forwarded_total",
    MetricType::kCounter,
    "Calls passed on to the replicas that hold their partitions, by result: one of them answered, or none did.",
    {{{"result", "answered|unavailable"}}}};
inline constexpr MetricDecl kAnswersIncomplete{
    "bloomring_answers_incomplete_total",
    MetricType::kCounter,
    "Answers in which a source was missing or behind, by source. An answer that lacks two sources counts for each.",
    {{{"source", "recent|served|filters"}}}};
inline constexpr MetricDecl kAnswersComplete{
    "bloomring_answers_complete_total",
    MetricType::kCounter,
    "Complete answers about users that the sources know, and about users that they do not know. When the share of "
    "unknown users jumps, a client names another scene, no scene, or another form of user id than the plays do.",
    {{{"user", "known|unknown"}}}};
inline constexpr MetricDecl kAnswersRelaxed{"bloomring_answers_relaxed_total", MetricType::kCounter,
                                            "Answers that bring back seen items because of min_keep."};
inline constexpr MetricDecl kAnswerExpectedError{
    "bloomring_answer_expected_error",
    MetricType::kHistogram,
    "Computed false positive rate of answers: the probability that an item which the user never played is called "
    "seen, over all filters that were read. The mean is sum over count.",
    {},
    kErrorBuckets};
inline constexpr MetricDecl kFilterCacheLookups{
    "bloomring_filter_cache_lookups_total",
    MetricType::kCounter,
    "Lookups in the cache of filters, by result: found, absent, or found but no longer exact.",
    {{{"result", "hit|miss|stale"}}}};
inline constexpr MetricDecl kFilterCacheEvictions{"bloomring_filter_cache_evictions_total", MetricType::kCounter,
                                                  "Users whose filters left the cache to stay within its bound."};
inline constexpr MetricDecl kFilterCacheUsers{"bloomring_filter_cache_users", MetricType::kGauge,
                                              "Users whose filters are in the cache."};
inline constexpr MetricDecl kFilterCacheBytes{"bloomring_filter_cache_bytes", MetricType::kGauge,
                                              "Memory of the cache of filters."};
inline constexpr MetricDecl kFilterCacheBytesMax{
    "bloomring_filter_cache_bytes_max", MetricType::kGauge,
    "Bound of the memory of the cache of filters: its share of memory.limit."};
inline constexpr MetricDecl kAnswersSaturated{
    "bloomring_answers_saturated_total", MetricType::kCounter,
    "Answers from a filter past its hard cap. The error budget does not hold for that user."};
inline constexpr MetricDecl kRecentEntries{"bloomring_recent_entries", MetricType::kGauge,
                                           "Recent plays held in memory for queries."};
inline constexpr MetricDecl kRecentBytes{"bloomring_recent_bytes", MetricType::kGauge,
                                         "Memory of the recent plays held for queries."};
inline constexpr MetricDecl kRecentForgets{"bloomring_recent_forgets", MetricType::kGauge,
                                           "Forgets held in memory for queries."};
inline constexpr MetricDecl kRecentEarly{
    "bloomring_recent_early_releases_total", MetricType::kCounter,
    "Merged hours of recent plays that were released before their lap was over, to stay within the bound."};
inline constexpr MetricDecl kRecentOverBound{
    "bloomring_recent_over_bound_partitions", MetricType::kGauge,
    "Partitions whose recent plays exceed their share of memory.limit, because plays are not merged."};
inline constexpr MetricDecl kServedShortened{
    "bloomring_served_shortened_total", MetricType::kCounter,
    "Times that served items younger than served.max_age_seconds were released, to stay within the bound."};
inline constexpr MetricDecl kServedUsers{"bloomring_served_users", MetricType::kGauge,
                                         "Users with served items in memory."};
inline constexpr MetricDecl kServedEntries{"bloomring_served_entries", MetricType::kGauge,
                                           "Served items held in memory for queries."};
inline constexpr MetricDecl kServedBytes{"bloomring_served_bytes", MetricType::kGauge,
                                         "Memory of the served items held for queries."};

// --- process ---
inline constexpr MetricDecl kBuildInfo{
    "bloomring_build_info",
    MetricType::kGauge,
    "Always 1. The labels name the versions in this process. The commit is `unknown` in a build without git.",
    {{{"version", ""}, {"commit", ""}, {"librdkafka", ""}, {"rocksdb", ""}, {"grpc", ""}}}};
inline constexpr MetricDecl kLogMessages{"bloomring_log_messages_total",
                                         MetricType::kCounter,
                                         "Log lines by level, written or not.",
                                         {{{"level", "debug|info|warning|error"}}}};
inline constexpr MetricDecl kMemoryPart{"bloomring_memory_part_bytes",
                                        MetricType::kGauge,
                                        "Share of memory.limit that each part of the process gets.",
                                        {{{"part", ""}}}};
inline constexpr MetricDecl kMemoryLimit{"bloomring_memory_limit_bytes", MetricType::kGauge,
                                         "Bound of the resident memory of the process: memory.limit."};
inline constexpr MetricDecl kFolderBytes{
    "bloomring_folder_bytes",
    MetricType::kGauge,
    "Bytes of all files below the folder of store.path or state.path; looked up once a minute.",
    {{{"folder", "store|state"}}}};
inline constexpr MetricDecl kFolderFree{"bloomring_folder_free_bytes",
                                        MetricType::kGauge,
                                        "Free bytes of the disk that the folder of store.path or state.path is on.",
                                        {{{"folder", "store|state"}}}};
inline constexpr MetricDecl kCertificateExpiry{
    "bloomring_certificate_expiry_timestamp_seconds",
    MetricType::kGauge,
    "Earliest expiry of the certificates in a file, by the configuration key that names the file; looked up once a "
    "minute. Absent when the file cannot be read.",
    {{{"key", ""}}}};
inline constexpr MetricDecl kStateMemory{
    "bloomring_state_memory_bytes", MetricType::kGauge,
    "Memory that the embedded stores take for blocks, indexes and write buffers. Its bound is the part `stores` of "
    "bloomring_memory_part_bytes."};
inline constexpr MetricDecl kWriteBufferMemory{"bloomring_write_buffer_bytes", MetricType::kGauge,
                                               "Share of bloomring_state_memory_bytes that write buffers take."};
inline constexpr MetricDecl kProcessCpu{"process_cpu_seconds_total", MetricType::kCounter,
                                        "User and system CPU time of the process in seconds."};
inline constexpr MetricDecl kProcessResident{"process_resident_memory_bytes", MetricType::kGauge,
                                             "Resident memory of the process in bytes."};
inline constexpr MetricDecl kProcessVirtual{"process_virtual_memory_bytes", MetricType::kGauge,
                                            "Virtual memory of the process in bytes."};
inline constexpr MetricDecl kProcessFds{"process_open_fds", MetricType::kGauge,
                                        "Open file descriptors of the process."};
inline constexpr MetricDecl kProcessFdsMax{"process_max_fds", MetricType::kGauge,
                                           "Most file descriptors the process may open."};
inline constexpr MetricDecl kProcessStart{"process_start_time_seconds", MetricType::kGauge,
                                          "Start of the process in seconds since 1970-01-01 UTC."};

// All of the above, in this order.
std::span<const MetricDecl* const> all();

}  // namespace bloomring::metric
