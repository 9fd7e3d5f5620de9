#include "pipeline/shadow/shadow_comparer.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "tests/pipeline/shadow/shadow_bed.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

constexpr int64_t kHourMs = 3'600'000;
const int64_t kPlayedMs = ShadowBed::kNowMs - kHourMs;

// Asks about all doubts until none is open.
void settle(ShadowBed& bed, ShadowComparer& comparer) {
  while (comparer.due_ms()) {
    bed.clock.advance_to_ms(std::max(bed.clock.now_ms(), *comparer.due_ms()));
    REQUIRE(comparer.settle_next(false).ok());
  }
}

std::string differences(const ShadowBed& bed) {
  std::ifstream file(bed.folder / "differences");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("shadow: two services that agree have no differences, and each latency is its own") {
  ShadowBed bed;
  bed.old_ms = 3;
  bed.new_ms = 2;
  bed.old_items = {{"v1", kPlayedMs}, {"v2", kPlayedMs}};
  bed.new_items = {{"v1", Reason::kRecent}, {"v2", Reason::kFilter}};
  ShadowComparer comparer = bed.comparer();
  REQUIRE(comparer.compare(ShadowBed::query({"v1", "v2", "v3"})).ok());
  CHECK(comparer.counts().compared == 1);
  CHECK(comparer.counts().of(ShadowResult::kSeen) == 2);
  CHECK(comparer.counts().of(ShadowResult::kUnseen) == 1);
  CHECK_FALSE(comparer.differences());
  CHECK_FALSE(comparer.due_ms());
  CHECK(comparer.latency().old_ns.max() == 3'000'000);
  CHECK(comparer.latency().new_ns.max() == 2'000'000);
}

TEST_CASE("shadow: a play that only the old store has is asked for three times, and then missing and named") {
  ShadowBed bed;
  bed.old_items = {{"v1", kPlayedMs}, {"v2", kPlayedMs}};
  bed.new_items = {{"v2", Reason::kFilter}};
  ShadowComparer comparer = bed.comparer();
  REQUIRE(comparer.compare(ShadowBed::query({"v1", "v2"})).ok());
  CHECK(comparer.counts().of(ShadowResult::kDoubt) == 1);
  CHECK_FALSE(comparer.differences());
  CHECK(comparer.due_ms() == ShadowBed::kNowMs + 5'000);
  settle(bed, comparer);
  CHECK(bed.old_questions == ShadowComparer::kRounds);
  CHECK(bed.clock.now_ms() == ShadowBed::kNowMs + 10'000);
  CHECK(comparer.counts().of(ShadowResult::kMissing) == 1);
  CHECK(comparer.counts().of(ShadowResult::kDoubt) == 0);
  CHECK(comparer.differences());
  CHECK(differences(bed) == R"({"user":"u1","scene":"","item":"v1","time_ms":")" + std::to_string(kPlayedMs) +
                                "\",\"result\":\"missing\"}\n");
}

TEST_CASE("shadow: a write that reaches the slower of the two a little later is no difference") {
  ShadowBed bed;
  bed.old_items = {{"v1", kPlayedMs}, {"gone", kPlayedMs}};
  bed.new_items = {{"v2", Reason::kRecent}, {"v3", Reason::kRecent}};
  ShadowComparer comparer = bed.comparer();
  REQUIRE(comparer.compare(ShadowBed::query({"v1", "v2", "v3", "gone"})).ok());
  bed.new_items["v1"] = Reason::kRecent;
  bed.old_items["v2"] = kPlayedMs;
  bed.old_items.erase("gone");
  settle(bed, comparer);
  CHECK(comparer.counts().of(ShadowResult::kSeenLate) == 1);
  CHECK(comparer.counts().of(ShadowResult::kOldLate) == 1);
  CHECK(comparer.counts().of(ShadowResult::kNotInOld) == 1);
  CHECK(comparer.counts().of(ShadowResult::kRemoved) == 1);
  CHECK_FALSE(comparer.differences());
  CHECK(differences(bed).empty());
}

TEST_CASE("shadow: what the user forgot in the service is not missing, and a later play of it is") {
  ShadowBed bed;
  bed.old_items = {{"v1", kPlayedMs}, {"v2", ShadowBed::kNowMs}};
  bed.forgotten = {"v1", "v2"};
  ShadowComparer comparer = bed.comparer();
  REQUIRE(comparer.compare(ShadowBed::query({"v1", "v2"})).ok());
  settle(bed, comparer);
  CHECK(comparer.counts().of(ShadowResult::kForgotten) == 1);
  CHECK(comparer.counts().of(ShadowResult::kMissing) == 1);
}

TEST_CASE("shadow: false positives of filters are a difference only above the rate, each user measured once") {
  ShadowBed bed;
  std::vector<std::string> items;
  for (int i = 0; i < 1'000; ++i) items.push_back("v" + std::to_string(i));
  for (int i = 0; i < 23; ++i) bed.new_items[items[static_cast<size_t>(i)]] = Reason::kFilter;
  ShadowComparer comparer = bed.comparer();
  // Of 10 of a thousand, 23 are at most what four standard deviations explain; the same accident again is no other one.
  for (int turn = 0; turn < 5; ++turn) REQUIRE(comparer.compare(ShadowBed::query(items)).ok());
  CHECK(comparer.counts().new_errors.asked == 1'000);
  CHECK(comparer.counts().new_errors.found == 23);
  CHECK(comparer.counts().new_errors.expected == Approx(4));
  CHECK(comparer.counts().of(ShadowResult::kFalsePositive) == 5 * 23);
  CHECK_FALSE(comparer.differences());
  REQUIRE(comparer.compare(ShadowBed::query(items, "u2")).ok());
  CHECK(comparer.too_many_new());
  CHECK(comparer.differences());
  bed.cut = true;
  ShadowComparer cut = bed.comparer();
  REQUIRE(cut.compare(ShadowBed::query(items)).ok());
  CHECK(cut.counts().of(ShadowResult::kCut) == 23);
  CHECK(cut.counts().new_errors.found == 0);
}

TEST_CASE("shadow: what only an old filter has is its error up to its rate, and a difference above it") {
  ShadowBed bed;
  std::vector<std::string> items;
  for (int i = 0; i < 1'000; ++i) items.push_back("v" + std::to_string(i));
  for (int i = 0; i < 23; ++i) bed.old_items[items[static_cast<size_t>(i)]] = 0;
  ShadowComparer comparer = bed.comparer({.old_filters = true});
  REQUIRE(comparer.compare(ShadowBed::query(items)).ok());
  settle(bed, comparer);
  CHECK(comparer.counts().of(ShadowResult::kOldError) == 23);
  CHECK(comparer.counts().of(ShadowResult::kMissing) == 0);
  CHECK_FALSE(comparer.differences());
  REQUIRE(comparer.compare(ShadowBed::query(items, "u2")).ok());
  settle(bed, comparer);
  CHECK(comparer.too_many_old());
  CHECK(comparer.differences());
}

TEST_CASE("shadow: a service that does not answer, or not completely, is counted and never compared") {
  ShadowBed bed;
  bed.old_items = {{"v1", kPlayedMs}};
  ShadowComparer comparer = bed.comparer();
  bed.old_away = true;
  REQUIRE(comparer.compare(ShadowBed::query({"v1"})).ok());
  CHECK_FALSE(comparer.answered());
  bed.old_away = false;
  bed.new_away = true;
  REQUIRE(comparer.compare(ShadowBed::query({"v1"})).ok());
  bed.new_away = false;
  bed.complete = false;
  REQUIRE(comparer.compare(ShadowBed::query({"v1"})).ok());
  CHECK(comparer.counts().failed_old == 1);
  CHECK(comparer.counts().failed_new == 1);
  CHECK(comparer.counts().incomplete == 1);
  CHECK(comparer.counts().compared == 0);
  CHECK(comparer.latency().new_ns.count() == 0);
  CHECK_FALSE(comparer.due_ms());
}

TEST_CASE("shadow: a doubt waits for a service that is away, is missing no sooner, and unsettled in the end") {
  ShadowBed bed;
  bed.old_items = {{"v1", kPlayedMs}};
  ShadowComparer comparer = bed.comparer();
  REQUIRE(comparer.compare(ShadowBed::query({"v1"})).ok());
  bed.new_away = true;
  for (int i = 1; i < ShadowComparer::kFailuresMax; ++i) REQUIRE(comparer.settle_next(false).ok());
  CHECK(comparer.counts().of(ShadowResult::kDoubt) == 1);
  REQUIRE(comparer.settle_next(false).ok());
  CHECK(comparer.counts().of(ShadowResult::kUnsettled) == 1);
  CHECK(comparer.counts().of(ShadowResult::kDoubt) == 0);
  CHECK(comparer.counts().failed_new == 0);  // Only queries count there.
  CHECK_FALSE(comparer.differences());
}

TEST_CASE("shadow: a stop asks about each doubt once more, and calls nothing missing that could still be on its way") {
  ShadowBed bed;
  bed.old_items = {{"v1", kPlayedMs}, {"v2", kPlayedMs}};
  ShadowComparer comparer = bed.comparer();
  REQUIRE(comparer.compare(ShadowBed::query({"v1"})).ok());
  REQUIRE(comparer.settle_next(true).ok());
  CHECK(comparer.counts().of(ShadowResult::kUnsettled) == 1);
  CHECK_THAT(differences(bed), Catch::Contains("\"unsettled\""));
  REQUIRE(comparer.compare(ShadowBed::query({"v2"})).ok());
  REQUIRE(comparer.settle_next(false).ok());
  REQUIRE(comparer.settle_next(true).ok());  // Its third question: it has had its time.
  CHECK(comparer.counts().of(ShadowResult::kMissing) == 1);
  REQUIRE(comparer.compare(ShadowBed::query({"v1", "v2"})).ok());
  comparer.give_up();
  CHECK(comparer.counts().of(ShadowResult::kUnsettled) == 3);
  CHECK_FALSE(comparer.due_ms());
}

TEST_CASE("shadow: with too many open doubts it takes no query until some have ended") {
  ShadowBed bed;
  std::vector<std::string> items;
  for (int i = 0; i < 20'000; ++i) items.push_back("v" + std::to_string(i));
  for (const std::string& item : items) bed.old_items[item] = kPlayedMs;
  ShadowComparer comparer = bed.comparer();
  for (size_t turn = 0; turn < ShadowComparer::kDoubtsMax / items.size(); ++turn) {
    CHECK(comparer.takes());
    REQUIRE(comparer.compare(ShadowBed::query(items)).ok());
  }
  CHECK_FALSE(comparer.takes());
  for (const std::string& item : items) bed.new_items[item] = Reason::kRecent;
  REQUIRE(comparer.settle_next(false).ok());
  CHECK(comparer.takes());
}
