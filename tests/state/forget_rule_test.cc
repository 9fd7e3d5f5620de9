#include "state/forget_rule.h"

#include <catch2/catch.hpp>
#include <set>
#include <vector>

using namespace bloomring;

namespace {

const Calendar& calendar() {
  static const Calendar months = Calendar::create({}).value();
  return months;
}

// The times that differ for the rule: around the borders of three months, and within the middle one.
std::vector<int64_t> times_ms() {
  const PeriodIndex middle = calendar().period_of_ms(1'795'000'000'000);
  std::vector<int64_t> times;
  for (int32_t period = middle.value; period <= middle.value + 1; ++period) {
    for (const int64_t by : {-1, 0, 1}) times.push_back(calendar().start_ms(PeriodIndex(period)) + by);
  }
  const int64_t noon = calendar().start_ms(middle) + 43'200'000;
  times.insert(times.begin() + 3, {noon - 1, noon, noon + 1});
  return times;
}

struct Case {
  Forget forget;
  bool passed;
  std::set<int64_t> merged;  // Plays of the item that the filters hold.
};

// Every forget with every set of up to two plays of its item that filters hold.
template <typename Check>
void for_each_case(bool everything, const Check& check) {
  for (const int64_t forget_ms : times_ms()) {
    for (const int flags : {0, 1, 2, 3}) {
      for (const int64_t first : times_ms()) {
        for (const int64_t second : times_ms()) {
          const ItemHash item(everything ? 0 : 7);
          check(Case{{everything, (flags & 1) != 0, item, forget_ms, Offset(5)}, (flags & 2) != 0, {first, second}});
        }
      }
    }
  }
}

bool any_in(const std::set<int64_t>& times_ms, PeriodIndex period, int64_t after_ms) {
  for (const int64_t time_ms : times_ms) {
    if (time_ms > after_ms && calendar().period_of_ms(time_ms) == period) return true;
  }
  return false;
}

// The periods that any of the times is in, and those around them.
std::vector<PeriodIndex> periods() {
  std::vector<PeriodIndex> all;
  const PeriodIndex first = calendar().period_of_ms(times_ms().front());
  for (int32_t period = first.value - 1; period <= first.value + 3; ++period) all.push_back(PeriodIndex(period));
  return all;
}

}  // namespace

TEST_CASE("forget rule: no filter that may hold a play after the forget is hidden, and every older one is") {
  const bool noted = GENERATE(true, false);
  for_each_case(/*everything=*/false, [&](const Case& c) {
    const bool store_knows = !c.forget.late && !c.passed;
    const int64_t reach_ms = forget_rule::reach_ms(c.forget, c.passed, calendar());
    // Plays that the store noted after it knew the forget: all of them when it is on time, else some or none.
    const int64_t newest = *c.merged.rbegin();
    const int64_t played_ms = (store_knows || noted) && newest > reach_ms ? newest : 0;
    const PeriodIndex hidden = forget_rule::hidden_through(reach_ms, played_ms, calendar());
    const PeriodIndex own = calendar().period_of_ms(c.forget.time_ms);
    for (const PeriodIndex period : periods()) {
      CAPTURE(c.forget.time_ms, c.forget.late, c.passed, c.merged, period.value);
      if (any_in(c.merged, period, c.forget.time_ms)) REQUIRE(period > hidden);
      if (period < own) REQUIRE(period <= hidden);
      const bool only_older = store_knows && played_ms == 0;
      if (period == own && only_older) REQUIRE(period <= hidden);
      if (period > own) REQUIRE(period > hidden);
    }
  });
}

TEST_CASE("forget rule: of everything, a stored forget leaves the filter of its period, one in memory hides it") {
  for_each_case(/*everything=*/true, [](const Case& c) {
    const PeriodIndex own = calendar().period_of_ms(c.forget.time_ms);
    const int64_t reach_ms = forget_rule::reach_ms(c.forget, c.passed, calendar());
    // On time: the store has removed the filter of the period, and what it holds has come since.
    const PeriodIndex stored = forget_rule::all_hidden_through(c.forget.time_ms, /*stored=*/true, calendar());
    REQUIRE(stored == PeriodIndex(own.value - 1));
    const PeriodIndex recent = forget_rule::all_hidden_through(reach_ms, /*stored=*/false, calendar());
    const bool limited = c.forget.late || c.passed;
    REQUIRE(recent == PeriodIndex(limited ? own.value - 1 : own.value));
  });
}

TEST_CASE("forget rule: a limited forget reaches to the last moment before its period, another one to its own time") {
  for (const int64_t time_ms : times_ms()) {
    for (const bool late : {false, true}) {
      for (const bool passed : {false, true}) {
        const int64_t reach_ms = forget_rule::reach_ms({false, late, ItemHash(1), time_ms, {}}, passed, calendar());
        const int64_t start_ms = calendar().start_ms(calendar().period_of_ms(time_ms));
        CHECK(reach_ms == (late || passed ? start_ms - 1 : time_ms));
        CHECK(reach_ms <= time_ms);
      }
    }
  }
}

TEST_CASE("forget rule: late is before a play of an earlier hour, passed is below a merged record") {
  for (int64_t forget_ms = 1; forget_ms < 6; ++forget_ms) {
    for (int64_t newest_ms = 0; newest_ms < 7; ++newest_ms) {
      // On time: every play of an earlier hour, even the newest one, is at or before the forget.
      CHECK(forget_rule::is_late(forget_ms, newest_ms) == counts_after(newest_ms, forget_ms));
    }
    for (int64_t log_ms = forget_ms; log_ms < 10; ++log_ms) {
      CHECK(forget_rule::is_logged_late(forget_ms, log_ms, 3) == (log_ms / 3 != forget_ms / 3));
    }
  }
  for (int64_t offset = 0; offset < 4; ++offset) {
    for (int64_t end = 0; end < 6; ++end) {
      bool merged_after = false;
      for (int64_t merged = 0; merged < end; ++merged) merged_after |= merged >= offset;
      CHECK(forget_rule::is_passed(Offset(offset), Offset(end)) == merged_after);
    }
  }
}
