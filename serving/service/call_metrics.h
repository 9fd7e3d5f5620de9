// The metrics of the calls of the query service, of their answers, and of the cache that they read.
#pragma once

#include "base/metrics/series_table.h"
#include "serving/admission/call_places.h"
#include "serving/query/filter_cache.h"
#include "serving/service/counters.h"

namespace bloomring::metric {

inline constexpr std::string_view kMethods = "Filter|FilterBatch|GetSnapshot|RecordServed|Forget";
inline constexpr std::string_view kGrpcCodes =
    "OK|CANCELLED|UNKNOWN|INVALID_ARGUMENT|DEADLINE_EXCEEDED|NOT_FOUND|ALREADY_EXISTS|PERMISSION_DENIED|"
    "RESOURCE_EXHAUSTED|FAILED_PRECONDITION|ABORTED|OUT_OF_RANGE|UNIMPLEMENTED|INTERNAL|UNAVAILABLE|DATA_LOSS|"
    "UNAUTHENTICATED";
// From 50 us to 1 s, for queries; the budget is 2 ms at p99.
// Callers give up between 25 and 100 ms: the examples' deadline is 50.
inline constexpr double kQueryBuckets[] = {0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.005, 0.01,
                                           0.025,   0.035,  0.05,    0.075,  0.1,   0.25,  1};

inline constexpr MetricDecl kQuerySeconds{
    "bloomring_query_seconds",
    MetricType::kHistogram,
    "Time to answer a call, by method and gRPC status code. A batch is one call.",
    {{{"method", kMethods}, {"code", kGrpcCodes}}},
    kQueryBuckets};
inline constexpr MetricDecl kRequests{"bloomring_requests_total", MetricType::kCounter,
                                      "Calls, and requests within batches, that have ended, whatever the answer was."};
inline constexpr MetricDecl kCandidates{"bloomring_candidates_total",
                                        MetricType::kCounter,
                                        "Candidates answered, by verdict: unseen, or seen with the reason.",
                                        {{{"verdict", "unseen|client|served|recent|filter"}}}};
inline constexpr MetricDecl kCallsInFlight{"bloomring_calls_in_flight", MetricType::kGauge,
                                           "Users that the query service is answering now; of a batch each counts."};
inline constexpr MetricDecl kCallsWaiting{
    "bloomring_calls_waiting", MetricType::kGauge,
    "Calls that wait now for room: for places for their users, or for memory for their messages."};
inline constexpr MetricDecl kCallsWaited{
    "bloomring_calls_waited_total",
    MetricType::kCounter,
    "Calls that waited for room, by result: admitted in their turn; refused because there was none in time, or too "
    "many waited; ended because their client had gone or the replica ended.",
    {{{"result", "admitted|refused|ended"}}}};
inline constexpr MetricDecl kCallsWaitedSeconds{
    "bloomring_calls_waited_seconds_total", MetricType::kCounter,
    "Time that these calls waited, in all. An admitted call counts until its turn came."};
inline constexpr MetricDecl kCallsOpen{
    "bloomring_calls_open", MetricType::kGauge,
    "Calls that are open: from their headers until their clients have read the end of the answers."};
inline constexpr MetricDecl kCallsWithoutPlace{
    "bloomring_calls_without_place_total",
    MetricType::kCounter,
    "Times that more calls were open than the memory for them allows, by result: a call whose message had not come "
    "was ended; one whose client had not read its answer was; one of the host with most calls was; the call that came "
    "was refused.",
    {{{"result", "silent_ended|answered_ended|working_ended|refused"}}}};
inline constexpr MetricDecl kCallsRefused{
    "bloomring_calls_refused_total",
    MetricType::kCounter,
    "Calls, and requests of batches, that were refused, by cause: bad input, a partition that no replica could "
    "answer for, too many calls or reads at once, a deadline that had passed, an incomplete answer to a strict "
    "call, or a caller without the right.",
    {{{"cause", "invalid|unavailable|overload|deadline|strict|permission"}}}};
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
inline constexpr MetricDecl kOldStoreReads{
    "bloomring_old_store_reads_total",
    MetricType::kCounter,
    "Requests about users where migrate.read_through is on, by result: their sets in the old store were migrated, "
    "were read and united with the answer, or could not be read whole, so that the answer was incomplete.",
    {{{"result", "migrated|united|missing"}}}};
inline constexpr MetricDecl kOldStorePlays{"bloomring_old_store_plays_total", MetricType::kCounter,
                                           "Plays that were read from the old store for answers."};
inline constexpr MetricDecl kAnswersRelaxed{"bloomring_answers_relaxed_total", MetricType::kCounter,
                                            "Answers that bring back seen items because of min_keep."};
inline constexpr MetricDecl kAnswersSaturated{
    "bloomring_answers_saturated_total", MetricType::kCounter,
    "Answers from a filter past its hard cap. The error budget does not hold for that user."};
// Around the budget of 1 %; a user with few plays is far below.
inline constexpr double kErrorBuckets[] = {0.00001, 0.0001, 0.001, 0.0025, 0.005, 0.0075, 0.01, 0.02, 0.05, 0.1};
inline constexpr MetricDecl kAnswerExpectedError{
    "bloomring_answer_expected_error",
    MetricType::kHistogram,
    "Computed false positive rate of answers: the probability that an item which the user never played is called "
    "seen, over all filters that were read. The mean is sum over count.",
    {},
    kErrorBuckets};
inline constexpr MetricDecl kReadsRefused{
    "bloomring_reads_refused_total", MetricType::kCounter,
    "Reads of the filter store that were refused because the queue of reads was full."};
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

inline constexpr const MetricDecl* kCallMetrics[] = {
    &kQuerySeconds, &kRequests, &kReadsRefused, &kCandidates, &kCallsInFlight, &kCallsWaiting, &kCallsWaited,
    &kCallsWaitedSeconds, &kCallsOpen, &kCallsWithoutPlace, &kCallsRefused, &kCallsForwarded,
    &kAnswersIncomplete, &kAnswersComplete, &kAnswersRelaxed, &kAnswersSaturated, &kAnswerExpectedError,
    &kOldStoreReads, &kOldStorePlays,
    &kFilterCacheLookups, &kFilterCacheEvictions, &kFilterCacheUsers, &kFilterCacheBytes, &kFilterCacheBytesMax};

}  // namespace bloomring::metric

namespace bloomring {

const SeriesTable<ServingCounters>& call_series();
const SeriesTable<CallPlaceCounters>& place_series();
const SeriesTable<FilterCacheStats>& cache_series();

}  // namespace bloomring
