#include "serving/service/call_metrics.h"

#include <catch2/catch.hpp>

#include "tests/support/shown_series.h"

using namespace bloomring;
using testing::ShownSeries;

TEST_CASE("task series: of calls, verdicts and gaps are shown by their words") {
  ServingCounters counters;
  counters.requests = 1;
  counters.verdicts[static_cast<size_t>(Reason::kRecent)] = 2;
  counters.incomplete[static_cast<size_t>(AnswerSource::kFilters)] = 3;
  counters.refused_strict = 4;
  counters.forward_failed = 5;
  counters.waiting = 6;
  counters.waited_ended = 7;
  counters.waited_us = 8'500'000;
  counters.old_migrated = 9;
  counters.old_united = 10;
  counters.old_missing = 11;
  counters.old_plays = 12;
  ShownSeries shown(call_series(), counters);
  CHECK(shown(metric::kRequests) == 1);
  CHECK(shown(metric::kCandidates, {"recent"}) == 2);
  CHECK(shown(metric::kCandidates, {"unseen"}) == 0);
  CHECK(shown(metric::kAnswersIncomplete, {"filters"}) == 3);
  CHECK(shown(metric::kCallsRefused, {"strict"}) == 4);
  CHECK(shown(metric::kCallsForwarded, {"unavailable"}) == 5);
  CHECK(shown(metric::kCallsWaiting) == 6);
  CHECK(shown(metric::kCallsWaited, {"ended"}) == 7);
  CHECK(shown(metric::kCallsWaited, {"refused"}) == 0);
  CHECK(shown(metric::kCallsWaitedSeconds) == 8.5);
  CHECK(shown(metric::kOldStoreReads, {"migrated"}) == 9);
  CHECK(shown(metric::kOldStoreReads, {"united"}) == 10);
  CHECK(shown(metric::kOldStoreReads, {"missing"}) == 11);
  CHECK(shown(metric::kOldStorePlays) == 12);
}
