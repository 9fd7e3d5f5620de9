#include "pipeline/shadow/shadow_verdict.h"

#include <catch2/catch.hpp>
#include <set>

using namespace bloomring;

namespace {

constexpr int64_t kNowMs = 1'764'000'000'000;  // 2025-11-24.
constexpr int64_t kDayMs = 86'400'000;

const Calendar& calendar() {
  static const Calendar kCalendar = Calendar::create({}).value();
  return kCalendar;
}

OldVerdict played(int64_t time_ms) { return {true, LegacyRefusal::kNone, time_ms}; }
ItemVerdict seen_by(Reason reason) { return {true, reason, {}}; }

ShadowResult first(const OldVerdict& old_verdict, const ItemVerdict& new_verdict, bool cut = false) {
  return judge_first(old_verdict, new_verdict, {calendar().window(kNowMs).back(), calendar(), cut});
}

}  // namespace

TEST_CASE("shadow verdict: two equal answers agree, whatever their reasons") {
  for (const Reason reason : {Reason::kServed, Reason::kRecent, Reason::kFilter})
    CHECK(first(played(kNowMs), seen_by(reason)) == ShadowResult::kSeen);
  CHECK(first({true, LegacyRefusal::kTimeTooEarly, 0}, seen_by(Reason::kFilter)) == ShadowResult::kSeen);
  CHECK(first({}, {}) == ShadowResult::kUnseen);
}

TEST_CASE("shadow verdict: an old member that the service need not have is explained at once") {
  CHECK(first({true, LegacyRefusal::kTimeTooEarly, 0}, {}) == ShadowResult::kRefused);
  CHECK(first(played(kNowMs - 300 * kDayMs), {}) == ShadowResult::kExpired);
  // The window of queries begins with August.
  CHECK(first(played(1'753'999'199'999), {}) == ShadowResult::kExpired);
  CHECK(first(played(1'754'092'800'000), {}) == ShadowResult::kDoubt);
  CHECK(first(played(kNowMs), {}) == ShadowResult::kDoubt);
  CHECK(first(played(0), {}) == ShadowResult::kDoubt);  // Of a filter, which has no times.
}

TEST_CASE("shadow verdict: what only the service has is explained by the source that has it") {
  CHECK(first({}, seen_by(Reason::kServed)) == ShadowResult::kServed);
  CHECK(first({}, seen_by(Reason::kRecent)) == ShadowResult::kDoubt);
  CHECK(first({}, seen_by(Reason::kFilter)) == ShadowResult::kFalsePositive);
  CHECK(first({}, seen_by(Reason::kFilter), true) == ShadowResult::kCut);
  CHECK(first({}, seen_by(Reason::kRecent), true) == ShadowResult::kDoubt);
}

TEST_CASE("shadow verdict: a doubt ends as soon as both agree, else with the last question") {
  const OldVerdict old_seen = played(kNowMs), old_unseen;
  const ItemVerdict new_seen = seen_by(Reason::kRecent), new_unseen;
  for (const bool last : {false, true}) {
    CHECK(judge_again(old_seen, new_seen, true, last) == ShadowResult::kSeenLate);
    CHECK(judge_again(old_unseen, new_seen, true, last) == ShadowResult::kSeenLate);
    CHECK(judge_again(old_unseen, new_unseen, true, last) == ShadowResult::kRemoved);
    CHECK(judge_again(old_seen, new_unseen, true, last) == (last ? ShadowResult::kMissing : ShadowResult::kDoubt));
    CHECK(judge_again(old_seen, new_seen, false, last) == ShadowResult::kOldLate);
    CHECK(judge_again(old_seen, new_unseen, false, last) == ShadowResult::kOldLate);
    CHECK(judge_again(old_unseen, new_unseen, false, last) == ShadowResult::kForgotten);
    CHECK(judge_again(old_unseen, new_seen, false, last) == (last ? ShadowResult::kNotInOld : ShadowResult::kDoubt));
  }
}

TEST_CASE("shadow verdict: only a forget, or the error of an old filter, explains a missing play") {
  CHECK(judge_missing(false, false) == ShadowResult::kMissing);
  CHECK(judge_missing(false, true) == ShadowResult::kForgotten);
  CHECK(judge_missing(true, false) == ShadowResult::kOldError);
  CHECK(judge_missing(true, true) == ShadowResult::kForgotten);
}

TEST_CASE("shadow verdict: each result has a name of its own") {
  std::set<std::string_view> names;
  for (size_t i = 0; i < kShadowResultCount; ++i) names.insert(shadow_result_name(static_cast<ShadowResult>(i)));
  CHECK(names.size() == kShadowResultCount);
  CHECK(shadow_result_name(ShadowResult::kMissing) == "missing");
  CHECK(shadow_result_name(ShadowResult::kOldError) == "old_error");
}
