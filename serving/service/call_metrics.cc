#include "serving/service/call_metrics.h"

namespace bloomring {

namespace {

SeriesTable<ServingCounters> make_call_series() {
  using namespace metric;
  using Counters = ServingCounters;
  SeriesTable<Counters> table = {
      {&kRequests, {}, &Counters::requests},
      {&kCallsInFlight, {}, &Counters::in_flight},
      {&kCallsWaiting, {}, &Counters::waiting},
      {&kCallsWaited, {"admitted"}, &Counters::waited_admitted},
      {&kCallsWaited, {"refused"}, &Counters::waited_refused},
      {&kCallsWaited, {"ended"}, &Counters::waited_ended},
      {&kCallsWaitedSeconds, {}, [](const Counters& of) { return 1e-6 * static_cast<double>(of.waited_us); }},
      {&kCallsRefused, {"invalid"}, &Counters::refused_invalid},
      {&kCallsRefused, {"unavailable"}, &Counters::refused_unavailable},
      {&kCallsRefused, {"overload"}, &Counters::refused_overload},
      {&kCallsRefused, {"deadline"}, &Counters::refused_deadline},
      {&kCallsRefused, {"strict"}, &Counters::refused_strict},
      {&kCallsRefused, {"permission"}, &Counters::refused_permission},
      {&kCallsForwarded, {"answered"}, &Counters::forwarded},
      {&kCallsForwarded, {"unavailable"}, &Counters::forward_failed},
      {&kOldStoreReads, {"migrated"}, &Counters::old_migrated},
      {&kOldStoreReads, {"united"}, &Counters::old_united},
      {&kOldStoreReads, {"missing"}, &Counters::old_missing},
      {&kOldStorePlays, {}, &Counters::old_plays},
      {&kAnswersComplete, {"known"}, &Counters::complete_known},
      {&kAnswersComplete, {"unknown"}, &Counters::complete_unknown},
      {&kAnswersRelaxed, {}, &Counters::relaxed},
      {&kAnswersSaturated, {}, &Counters::saturated},
  };
  for (size_t i = 0; i < kReasonCount; ++i) {
    table.push_back({&kCandidates, {reason_name(static_cast<Reason>(i))}, [i](const Counters& counters) {
                       return static_cast<double>(counters.verdicts[i].load());
                     }});
  }
  for (const AnswerSource source : {AnswerSource::kRecent, AnswerSource::kServed, AnswerSource::kFilters}) {
    table.push_back({&kAnswersIncomplete, {source_name(source)}, [source](const Counters& counters) {
                       return static_cast<double>(counters.incomplete[static_cast<size_t>(source)].load());
                     }});
  }
  return table;
}

}  // namespace

const SeriesTable<ServingCounters>& call_series() {
  static const SeriesTable<ServingCounters> kTable = make_call_series();
  return kTable;
}

const SeriesTable<CallPlaceCounters>& place_series() {
  using namespace metric;
  static const SeriesTable<CallPlaceCounters> kTable = {
      {&kCallsOpen, {}, &CallPlaceCounters::open},
      {&kCallsWithoutPlace, {"silent_ended"}, &CallPlaceCounters::silent_displaced},
      {&kCallsWithoutPlace, {"answered_ended"}, &CallPlaceCounters::answered_displaced},
      {&kCallsWithoutPlace, {"working_ended"}, &CallPlaceCounters::working_displaced},
      {&kCallsWithoutPlace, {"refused"}, &CallPlaceCounters::refused},
  };
  return kTable;
}

const SeriesTable<FilterCacheStats>& cache_series() {
  using namespace metric;
  static const SeriesTable<FilterCacheStats> kTable = {
      {&kFilterCacheLookups, {"hit"}, &FilterCacheStats::hits},
      {&kFilterCacheLookups, {"miss"}, &FilterCacheStats::misses},
      {&kFilterCacheLookups, {"stale"}, &FilterCacheStats::stale},
      {&kFilterCacheEvictions, {}, &FilterCacheStats::evictions},
      {&kFilterCacheUsers, {}, &FilterCacheStats::entries},
      {&kFilterCacheBytes, {}, &FilterCacheStats::bytes},
  };
  return kTable;
}

}  // namespace bloomring
