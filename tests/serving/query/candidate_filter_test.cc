#include "serving/query/candidate_filter.h"

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "schemas/forgotten.h"
#include "tests/support/serving_world.h"

using namespace bloomring;

TEST_CASE("candidate filter: a play is seen as soon as it is applied, and what was not played is not") {
  ServingWorld world;
  world.play("u1", "v1");
  CHECK(world.seen("u1", "v1") == "recent");
  CHECK(world.seen("u1", "v2") == "unseen");
  CHECK(world.seen("u2", "v1") == "unseen");
}

TEST_CASE("candidate filter: a play is seen before, during and after its merge and its release") {
  ServingWorld world;
  world.play("u1", "v1");
  CHECK(world.seen("u1", "v1") == "recent");
  world.merge();
  CHECK(world.seen("u1", "v1") == "recent");
  world.release();
  CHECK(world.seen("u1", "v1") == "recent");  // Within a lap.
  world.advance_hours(7);
  world.release();
  CHECK(world.seen("u1", "v1") == "filter 2026-11");
  CHECK(world.partition->recents().stats().plays == 0);
}

TEST_CASE("candidate filter: a play that is released between lookup and read is found by the read") {
  ServingWorld world;
  world.play("u1", "v1");
  world.merge();
  world.advance_hours(7);
  const std::string key(UserKey("", "u1").bytes());
  const UserLookup lookup = world.core.look_up(*world.partition, key, kAllPlays);
  world.release();
  const UserLookup later = world.core.look_up(*world.partition, key, kAllPlays);
  CHECK(lookup.recents.size() == 1);
  CHECK(later.recents.empty());
  CHECK(world.read(key, later)->filters.size() == 1);
}

TEST_CASE("candidate filter: a replica that catches up during a question answers with what it read, or is behind") {
  // Calls a function whenever the time is read.
  class WatchedClock final : public Clock {
   public:
    WatchedClock(const Clock& clock, std::function<void()> read) : clock_(clock), read_(std::move(read)) {}
    int64_t now_ms() const override { return read_(), clock_.now_ms(); }
    int64_t steady_ns() const override { return read_(), clock_.steady_ns(); }

   private:
    const Clock& clock_;
    const std::function<void()> read_;
  };
  constexpr int kMoments = 20;  // A question reads the time less often.
  for (int moment = 0; moment < kMoments; ++moment) {
    ServingWorld world;
    world.clock.advance_ms(60'000);  // The log goes on, and the partition does not.
    int reads = 0;
    const WatchedClock clock(world.clock, [&] {
      if (reads++ == moment) world.play("u1", "v1");
    });
    CandidateFilter core(world.store, utc_months(), clock, {});
    const std::vector<ItemHash> ids = hash_all({"v1"});
    const FilterAnswer answer = core.answer(*world.partition, {UserKey("", "u1").bytes(), ids, {}, {}});
    CAPTURE(moment, reads);
    REQUIRE(reads < kMoments);
    CHECK(answer.complete() <= (answer.seen_count == 1));
  }
}

TEST_CASE("candidate filter: a play of a month before the window is unseen at once, not only after its lap") {
  ServingWorld world;
  world.play_at("u1", "old", kStartMs - 140 * kDayMs);   // July; the window is November to August.
  world.play_at("u1", "edge", kStartMs - 110 * kDayMs);  // August.
  CHECK(world.seen("u1", "old") == "unseen");
  CHECK(world.seen("u1", "edge") == "recent");
  world.merge();
  world.advance_hours(7);
  world.release();
  CHECK(world.seen("u1", "old") == "unseen");
  CHECK(world.seen("u1", "edge") == "filter 2026-08");
}

TEST_CASE("candidate filter: a replica whose clock is months off reads the periods that were merged") {
  constexpr int64_t kMonthMs = 30 * 24 * kHourMs;
  for (const int64_t months : {8, -8}) {
    ServingWorld world;
    world.play("u1", "filtered");
    world.merge();
    world.advance_hours(7);
    world.release();
    world.play("u1", "recent");
    world.clock.set_wrong_by_ms(months * kMonthMs);
    INFO("months " << months);
    CHECK(world.seen("u1", "filtered") == "filter 2026-11");
    CHECK(world.seen("u1", "recent") == "recent");
    CHECK(world.ask("u1", {"filtered"}).complete());
  }
}

TEST_CASE("candidate filter: a log time that is months ahead does not move the window") {
  ServingWorld world;
  world.play("u1", "v1");
  world.merge();
  world.advance_hours(7);
  world.release();
  world.partition->log_time().saw(kStartMs + 400 * kDayMs, world.clock.steady_ns());  // The broker's clock, once.
  CHECK(world.seen("u1", "v1") == "filter 2026-11");
}

// Lets a lap pass three times, so that what is merged leaves memory.
void pass_laps(ServingWorld& world) {
  for (int lap = 0; lap < 3; ++lap) {
    world.advance_hours(8);
    world.play("other", "v");
    world.merge();
    world.release();
  }
}

TEST_CASE("candidate filter: what is played after a forget by call stays seen, whichever came first, note or record") {
  const bool note_first = GENERATE(true, false);
  const bool forget_all = GENERATE(true, false);  // Otherwise more items than a user's forgets are kept of.
  CAPTURE(note_first, forget_all);
  ServingWorld world;
  const uint64_t user = user_hash(UserKey("", "u1").bytes());
  world.play("u1", "v1");
  world.clock.advance_ms(1'000);
  const Event forget{EventKind::kForget, item_hash("v1"), world.log_now_ms()};
  const Offset offset(world.log_end());
  if (note_first) world.partition->note_forget(user, forget, offset);
  world.happen(EventKind::kForget, "u1", "v1", forget.time_ms);
  if (!note_first) world.partition->note_forget(user, forget, offset);
  CHECK(world.seen("u1", "v1") == "unseen");
  world.merge();
  pass_laps(world);
  CHECK(world.seen("u1", "v1") == "unseen");

  if (forget_all) {
    world.forget_all("u1");
  } else {
    for (size_t i = 0; i <= Forgotten::kItemsMax; ++i) world.forget("u1", "w" + std::to_string(i));
  }
  world.clock.advance_ms(1'000);
  world.play("u1", "v1");
  CHECK(world.seen("u1", "v1") == "recent");
  world.merge();
  pass_laps(world);
  CHECK(world.seen("u1", "v1") == "filter 2026-11");
  CHECK(world.ask("u1", {"v1"}).complete());
  CHECK(world.partition->recents().stats().forgets == 0);
}

TEST_CASE("candidate filter: a failing store makes the answer incomplete, not wrong and not an error") {
  ServingWorld world;
  world.play("u1", "v1");
  world.store.fail_reads(true);
  const FilterAnswer answer = world.ask("u1", {"v1", "v2"});
  CHECK_FALSE(answer.complete());
  REQUIRE(answer.gaps.size() == 1);
  CHECK(answer.gaps[0].source == AnswerSource::kFilters);
  CHECK(answer.gaps[0].reason == "retry: filter store: connection refused");
  CHECK(world.text(answer, 0) == "recent");
  CHECK(world.text(answer, 1) == "unseen");
}

TEST_CASE("candidate filter: a damaged filter is a gap that names its period") {
  ServingWorld world;
  world.play("u1", "v1");
  world.merge();
  world.store.damage_values();
  const FilterAnswer answer = world.ask("u1", {"v1"});
  REQUIRE(answer.gaps.size() == 1);
  CHECK(answer.gaps[0].reason == "filter of 2026-11 is damaged");
}

TEST_CASE("candidate filter: an answer says so when a filter is past its error budget") {
  ServingWorld world;
  for (int i = 0; i < 1000; ++i) world.play("u1", "v" + std::to_string(i));
  world.merge();
  CHECK_FALSE(world.ask("u1", {"v1"}).saturated);
  world.store.set_policy({.false_positive_rate = 1e-6});
  world.play("u1", "one more");
  world.merge();
  world.advance_hours(7);
  world.release();
  CHECK(world.ask("u1", {"v1"}).saturated);
  CHECK_FALSE(world.ask("u2", {"v1"}).saturated);
}

TEST_CASE("candidate filter: a partition that is behind the log says by how much") {
  ServingWorld world;
  world.partition->set_fresh_at_ns((kStartMs - 9'000) * 1'000'000);
  const FilterAnswer answer = world.ask("u1", {"v1"});
  REQUIRE(answer.gaps.size() == 1);
  CHECK(answer.gaps[0].source == AnswerSource::kRecent);
  CHECK(answer.gaps[0].lag_ms == 9'000);
}

TEST_CASE("candidate filter: a clock that is months off hides no play of the newest or the oldest period") {
  for (const int64_t days : {60, -60, 31, -31, 1, -1}) {
    ServingWorld world;
    world.play("u1", "newest");
    world.play_at("u1", "oldest", kStartMs - 92 * kDayMs);
    world.merge();
    world.advance_hours(7);
    world.release();
    world.clock.set_wrong_by_ms(days * kDayMs);
    CAPTURE(days);
    CHECK(world.seen("u1", "newest") == "filter 2026-11");
    CHECK(world.seen("u1", "oldest") == "filter 2026-08");
    CHECK(world.ask("u1", {"newest"}).complete());
  }
}

TEST_CASE("candidate filter: an answer says so when clocks differ by more periods than one question reads") {
  ServingWorld world;
  world.play("u1", "v1");
  world.clock.set_wrong_by_ms(6 * 365 * kDayMs);
  const FilterAnswer answer = world.ask("u1", {"v1"});
  REQUIRE(answer.gaps.size() == 1);
  CHECK(answer.gaps[0].reason == "this machine's clock and the log's differ by 2190 days");
  CHECK(answer.periods.size() == 64);
  world.clock.set_wrong_by_ms(0);
  CHECK(world.ask("u1", {"v1"}).complete());
}

TEST_CASE("candidate filter: what was served counts for its time, whatever this machine's clock says") {
  for (const int64_t days : {60, -60}) {
    ServingWorld world;
    world.serve("u1", "v1");
    world.clock.set_wrong_by_ms(days * kDayMs);
    CAPTURE(days);
    CHECK(world.seen("u1", "v1") == "served");
  }
}

TEST_CASE("candidate filter: what the log lost before it was merged is a gap until the watermark has passed it") {
  ServingWorld world;
  world.partition->set_lost_below(Offset(2));
  world.play("u1", "v1");
  REQUIRE(world.ask("u1", {"v1"}).gaps.size() == 1);
  CHECK(world.ask("u1", {"v1"}).gaps[0].reason == "the log lost records before they were merged");
  world.merge();
  world.release();
  CHECK_FALSE(world.ask("u1", {"v1"}).complete());
  world.play("u1", "v2");
  world.merge();
  world.release();
  CHECK(world.ask("u1", {"v1"}).complete());
}

TEST_CASE("candidate filter: a user of whom nothing is known is said to be unknown") {
  ServingWorld world;
  CHECK_FALSE(world.ask("u1", {"v1"}).user_known);
  world.play("u1", "v1");
  CHECK(world.ask("u1", {"v2"}).user_known);
  world.merge();
  world.advance_hours(7);
  world.release();
  CHECK(world.ask("u1", {"v2"}).user_known);
}

TEST_CASE("candidate filter: the client's own list comes first") {
  ServingWorld world;
  world.play("u1", "v1");
  const std::vector<ItemHash> ids = hash_all({"v1", "v2", "v3"});
  const std::vector<ItemHash> client = hash_all({"v1", "v2"});
  const FilterAnswer answer = world.core.answer(*world.partition, {UserKey("", "u1").bytes(), ids, {}, client});
  CHECK(world.text(answer, 0) == "client");
  CHECK(world.text(answer, 1) == "client");
  CHECK(world.text(answer, 2) == "unseen");
}

TEST_CASE("candidate filter: a candidate of several ids is seen if any of them is") {
  ServingWorld world;
  world.play("u1", "original");
  const std::vector<ItemHash> ids = hash_all({"repost", "original", "x", "y", "z"});
  const std::vector<uint32_t> groups = {2, 2, 1};
  const FilterAnswer answer = world.core.answer(*world.partition, {UserKey("", "u1").bytes(), ids, groups, {}});
  REQUIRE(answer.candidates == 3);
  CHECK(world.text(answer, 0) == "recent");
  CHECK(world.text(answer, 1) == "unseen");
  CHECK(world.text(answer, 2) == "unseen");
}

TEST_CASE("candidate filter: too few survivors bring the oldest period back, and the answer says so") {
  ServingWorld world;
  world.play_at("u1", "august", kStartMs - 110 * kDayMs);
  world.play("u1", "november");
  const bool merged = GENERATE(false, true);
  if (merged) {
    world.merge();
    world.advance_hours(7);
    world.release();
  }
  const std::vector<ItemHash> ids = hash_all({"august", "november"});
  const FilterAnswer kept = world.core.answer(*world.partition, {UserKey("", "u1").bytes(), ids, {}, {}, 1});
  CHECK_FALSE(kept.verdict(0).seen);
  CHECK(kept.verdict(0).reason == (merged ? Reason::kFilter : Reason::kRecent));
  CHECK(kept.verdict(1).seen);
  CHECK(kept.seen_count == 1);
  REQUIRE(kept.relaxed.size() == 1);
  CHECK(world.core.calendar().name(kept.relaxed[0].period) == "2026-08");
}

TEST_CASE(
    "candidate filter: when the oldest period is not enough, what was served comes back too, the client's own never") {
  ServingWorld world;
  world.serve("u1", "served");
  world.play("u1", "played");
  const std::vector<ItemHash> ids = hash_all({"served", "played", "known"});
  const std::vector<ItemHash> client = hash_all({"known"});
  const FilterAnswer answer = world.core.answer(*world.partition, {UserKey("", "u1").bytes(), ids, {}, client, 3});
  CHECK_FALSE(answer.verdict(0).seen);
  CHECK(answer.verdict(0).reason == Reason::kServed);
  CHECK(answer.verdict(1).seen);
  CHECK(answer.verdict(2).seen);
  CHECK(answer.seen_count == 2);
  REQUIRE(answer.relaxed.size() == 2);
  CHECK(answer.relaxed[1].source == AnswerSource::kServed);
}

// Candidates that come back and candidates that stay seen, in long runs and mixed: the answer is that of asking twice,
// with all sources and without those that min_keep leaves out, put together candidate by candidate.
TEST_CASE("candidate filter: what min_keep brings back keeps its place and reason, among thousands that stay seen") {
  ServingWorld world;
  world.serve("u1", "served");
  world.play_at("u1", "august", kStartMs - 110 * kDayMs);
  world.play("u1", "played");
  const std::vector<std::string> client_seen = {"known"};
  std::mt19937 random(11);
  const std::vector<std::string> kinds = {"served", "august", "played", "known", "new"};
  std::vector<std::string> candidates;
  for (const char* kind : {"served", "known", "august", "played"}) candidates.insert(candidates.end(), 5'000, kind);
  for (int i = 0; i < 20'000; ++i) candidates.push_back(kinds[random() % kinds.size()]);
  const std::vector<ItemHash> ids = hash_all(candidates), client = hash_all(client_seen);
  const FilterAnswer answer =
      world.core.answer(*world.partition, {UserKey("", "u1").bytes(), ids, {}, client, candidates.size()});
  const std::map<std::string, std::pair<Reason, bool>> expected = {{"served", {Reason::kServed, false}},
                                                                   {"august", {Reason::kRecent, false}},
                                                                   {"played", {Reason::kRecent, true}},
                                                                   {"known", {Reason::kClient, true}},
                                                                   {"new", {Reason::kNone, false}}};
  size_t verdicts = 0, seen = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const auto& [reason, is_seen] = expected.at(candidates[i]);
    REQUIRE(answer.verdict(i).reason == reason);
    REQUIRE(answer.verdict(i).seen == is_seen);
    verdicts += reason != Reason::kNone ? 1 : 0;
    seen += is_seen ? 1 : 0;
  }
  CHECK(answer.verdicts.size() == verdicts);
  CHECK(answer.seen_count == seen);
  CHECK(std::ranges::is_sorted(answer.verdicts, {}, &CandidateVerdict::candidate));
}

TEST_CASE("candidate filter: what was served and played counts as served, and as recent once 100 newer were served") {
  ServingWorld world;
  world.serve("u1", "v1");
  CHECK(world.seen("u1", "v1") == "served");
  world.play("u1", "v1");
  CHECK(world.seen("u1", "v1") == "served");
  for (int i = 0; i < 100; ++i) {
    world.clock.advance_ms(1);
    world.serve("u1", "w" + std::to_string(i));
  }
  CHECK(world.seen("u1", "v1") == "recent");
  CHECK(world.seen("u2", "v1") == "unseen");
}

// The law of the read side, for any order of plays, merges, releases and hours: what was played in the window is seen,
// also when merge and release happen between the two lookups of one question.
TEST_CASE("candidate filter: no played item is ever unseen, for random histories") {
  const uint32_t seed = GENERATE(range(1u, 41u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto chance = [&](uint32_t percent) { return random() % 100 < percent; };
  ServingWorld world({.slot_ms = kHourMs, .bytes_max = chance(50) ? size_t{20'000} : size_t{1} << 30},
                     {.cache_bytes_max = chance(50) ? size_t{50'000} : size_t{1} << 24});
  std::map<std::string, std::set<std::string>> played;
  size_t probes = 0, wrongly_seen = 0;
  for (int step = 0; step < 400; ++step) {
    const std::string user = "u" + std::to_string(random() % 5);
    const std::string item = "v" + std::to_string(random() % 500);
    world.play(user, item);
    played[user].insert(item);
    if (chance(5)) world.merge();
    if (chance(10)) world.release();
    if (chance(5)) world.advance_hours(random() % 3);
    const std::string asked = "u" + std::to_string(random() % 5);
    const std::string key(UserKey("", asked).bytes());
    std::vector<std::string> items;
    for (int i = 0; i < 20; ++i) items.push_back("v" + std::to_string(random() % 600));
    const std::vector<ItemHash> ids = hash_all(items);
    const UserLookup lookup = world.core.look_up(*world.partition, key, {.items = ids});
    if (chance(10)) world.merge();
    if (chance(10)) world.release();
    auto filters = world.core.cached(key, lookup);
    if (!filters) filters = world.read(key, lookup);
    const FilterAnswer answer = world.core.judge({key, ids, {}, {}}, lookup, filters.get(), {});
    for (size_t i = 0; i < items.size(); ++i) {
      const bool expected = played[asked].contains(items[i]);
      if (expected) REQUIRE(answer.verdict(i).seen);
      probes += expected ? 0 : 1;
      wrongly_seen += !expected && answer.verdict(i).seen ? 1 : 0;
    }
  }
  CHECK(static_cast<double>(wrongly_seen) <= 0.01 * static_cast<double>(probes));
}
