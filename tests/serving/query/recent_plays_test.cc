#include "serving/query/recent_plays.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "base/hash.h"
#include "schemas/forgotten.h"
#include "tests/support/serving_world.h"

using namespace bloomring;

namespace {

std::string user_key(uint64_t user) { return std::string(UserKey("", "u" + std::to_string(user)).bytes()); }

// A block of plays, all now.
void apply(RecentPlays& plays, int64_t offset, int64_t log_time_ms,
           const std::vector<std::pair<std::string, uint64_t>>& events) {
  EventBlockBuilder builder;
  for (const auto& [key, item] : events) {
    builder.add(key, {EventKind::kPlay, ItemHash(item), log_time_ms});
  }
  const std::string bytes = builder.finish(kOnly, 1);
  EventBlockReader block = EventBlockReader::open(bytes, kOnly, 1).value();
  plays.apply(Offset(offset), log_time_ms, block);
}

std::vector<uint64_t> items_of(const RecentPlays& plays, const std::string& key, PeriodIndex oldest = PeriodIndex(0)) {
  std::vector<RecentPlay> found;
  std::vector<Forget> forgets;
  plays.lookup(user_hash(key), oldest, kAllPlays, found, forgets);
  std::vector<uint64_t> items;
  for (const RecentPlay& play : found) items.push_back(play.item.value);
  std::sort(items.begin(), items.end());
  return items;
}

void apply_forget(RecentPlays& plays, int64_t offset, int64_t log_time_ms, const std::string& key, uint64_t item,
                  int64_t time_ms) {
  EventBlockBuilder builder;
  builder.add(key, {EventKind::kForget, ItemHash(item), time_ms});
  const std::string bytes = builder.finish(kOnly, 1);
  EventBlockReader block = EventBlockReader::open(bytes, kOnly, 1).value();
  plays.apply(Offset(offset), log_time_ms, block);
}

std::vector<Forget> forgets_of(const RecentPlays& plays, const std::string& key) {
  std::vector<RecentPlay> found;
  std::vector<Forget> forgets;
  plays.lookup(user_hash(key), PeriodIndex(0), kAllPlays, found, forgets);
  return forgets;
}

MergedWatermark merged_to(int64_t offset) { return {.offset = Offset(offset), .hour = HourIndex(0), .ahead = {}}; }

}  // namespace

TEST_CASE("recent plays: every play of a user comes back, whatever their number") {
  RecentPlays plays({}, utc_months(), Offset(0));
  for (const uint64_t count : {1, 3, 4, 10, 63, 64, 65, 1000, 5000}) {
    std::vector<std::pair<std::string, uint64_t>> events;
    std::vector<uint64_t> expected;
    for (uint64_t i = 0; i < count; ++i) {
      events.emplace_back(user_key(count), i);
      expected.push_back(i);
    }
    apply(plays, static_cast<int64_t>(count), kStartMs, events);
    CHECK(items_of(plays, user_key(count)) == expected);
  }
  CHECK(items_of(plays, user_key(2)).empty());
}

TEST_CASE("recent plays: a record that is applied again changes nothing") {
  RecentPlays plays({}, utc_months(), Offset(0));
  apply(plays, 0, kStartMs, {{user_key(1), 7}});
  apply(plays, 0, kStartMs, {{user_key(1), 7}});
  CHECK(plays.stats().plays == 1);
  CHECK(plays.applied() == Offset(1));
}

TEST_CASE("recent plays: a generation is dropped only when it is merged and its lap is over") {
  RecentPlays plays({}, utc_months(), Offset(0));
  apply(plays, 0, kStartMs, {{user_key(1), 1}});
  apply(plays, 1, kStartMs + kHourMs, {{user_key(1), 2}});
  CHECK(plays.release(merged_to(0), kStartMs + 10 * kHourMs) == 0);  // Old, not merged.
  CHECK(plays.release(merged_to(2), kStartMs) == 0);                 // Merged, within a lap.
  CHECK(plays.release(merged_to(2), kStartMs + 1) == 1);             // The first is both.
  CHECK(items_of(plays, user_key(1)) == std::vector<uint64_t>{2});
  CHECK(plays.stats().recent_from == Offset(1));
}

TEST_CASE("recent plays: beyond the bound of bytes a merged generation goes before its lap is over") {
  RecentPlays plays({.slot_ms = kHourMs, .bytes_max = 1}, utc_months(), Offset(0));
  apply(plays, 0, kStartMs, {{user_key(1), 1}});
  CHECK(plays.release(merged_to(0), 0) == 0);
  CHECK(plays.stats().over_bound);  // Not merged: kept, and said.
  CHECK(plays.release(merged_to(1), 0) == 1);
  CHECK(plays.stats().early_releases == 1);
  CHECK_FALSE(plays.stats().over_bound);
  CHECK(plays.stats().bytes == 0);
}

TEST_CASE("recent plays: what comes after everything was dropped is held again") {
  RecentPlays plays({}, utc_months(), Offset(0));
  apply(plays, 0, kStartMs, {{user_key(1), 1}});
  CHECK(plays.release(merged_to(1), kStartMs + 1) == 1);
  apply(plays, 1, kStartMs, {{user_key(1), 2}});
  CHECK(items_of(plays, user_key(1)) == std::vector<uint64_t>{2});
}

TEST_CASE("recent plays: log time that goes back opens no older generation") {
  RecentPlays plays({}, utc_months(), Offset(0));
  apply(plays, 0, kStartMs, {{user_key(1), 1}});
  apply(plays, 1, kStartMs - 5 * kHourMs, {{user_key(1), 2}});
  CHECK(plays.stats().generations == 1);
}

TEST_CASE("recent plays: a play of a period before the window is not returned") {
  RecentPlays plays({}, utc_months(), Offset(0));
  apply(plays, 0, kStartMs, {{user_key(1), 1}});
  const PeriodIndex now = utc_months().period_of_ms(kStartMs);
  CHECK(items_of(plays, user_key(1), now).size() == 1);
  CHECK(items_of(plays, user_key(1), PeriodIndex(now.value + 1)).empty());
}

TEST_CASE("recent plays: readers next to the writer always find what is held from the offset that they are told") {
  RecentPlays plays({.slot_ms = 10, .bytes_max = size_t{1} << 30}, utc_months(), Offset(0));
  constexpr int64_t kRecords = 3'000;
  constexpr uint64_t kUsers = 8;
  std::atomic<bool> done{false};
  std::atomic<int64_t> wrong{0};
  // Record o holds one play of every user: item o.
  const auto read = [&](uint64_t user) {
    std::vector<RecentPlay> found;
    std::vector<Forget> forgets;
    while (!done.load()) {
      found.clear();
      const int64_t applied = plays.applied().value;
      const uint64_t hash = user_hash(user_key(user));
      const int64_t from = plays.lookup(hash, PeriodIndex(0), kAllPlays, found, forgets).recent_from.value;
      std::set<uint64_t> items;
      for (const RecentPlay& play : found) items.insert(play.item.value);
      for (int64_t o = from; o < applied; ++o) wrong += items.contains(static_cast<uint64_t>(o)) ? 0 : 1;
    }
  };
  std::thread first(read, 1), second(read, 2);
  for (int64_t o = 0; o < kRecords; ++o) {
    std::vector<std::pair<std::string, uint64_t>> events;
    for (uint64_t user = 0; user < kUsers; ++user) events.emplace_back(user_key(user), static_cast<uint64_t>(o));
    apply(plays, o, kStartMs + o, events);
    if (o % 7 == 0) plays.release(merged_to(o - 20), kStartMs + o - 40);
  }
  done = true;
  first.join();
  second.join();
  CHECK(wrong == 0);
  CHECK(plays.stats().recent_from > Offset(kRecords - 100));
}

TEST_CASE("recent plays: a forget that was noted is held until its own record is applied, whatever is dropped before") {
  constexpr int64_t kSlotMs = 3'600'000;
  const std::string user = user_key(1);
  RecentPlays plays({.slot_ms = kSlotMs, .bytes_max = 1 << 20}, utc_months(), Offset(0));
  apply(plays, 0, kStartMs, {{user, 7}});
  const int64_t forgotten_ms = kStartMs + kSlotMs / 2;
  plays.note_forget(user_hash(user), false, ItemHash(7), forgotten_ms, Offset(2));
  apply(plays, 1, kStartMs + kSlotMs, {{user, 8}});
  REQUIRE(plays.release(merged_to(2), kStartMs + 10 * kSlotMs) == 2);  // The replica is behind: its record comes later.
  REQUIRE(forgets_of(plays, user).size() == 1);
  CHECK_FALSE(forgets_of(plays, user)[0].late);

  apply_forget(plays, 2, kStartMs + 2 * kSlotMs, user, 7, forgotten_ms);  // Late by now, and once only.
  REQUIRE(forgets_of(plays, user).size() == 1);
  CHECK(forgets_of(plays, user)[0].late);
  CHECK(plays.release(merged_to(3), kStartMs + 10 * kSlotMs) == 1);
  CHECK(forgets_of(plays, user).empty());
}

TEST_CASE("recent plays: a forget is late when a play of an earlier slot is newer, whichever slot it is logged in") {
  constexpr int64_t kSlotMs = 3'600'000;
  const std::string user = user_key(1);
  RecentPlays plays({.slot_ms = kSlotMs, .bytes_max = 1 << 20}, utc_months(), Offset(0));
  apply(plays, 0, kStartMs + 10, {{user, 1}});
  apply_forget(plays, 1, kStartMs + kSlotMs + 5, user, 1, kStartMs + 10);
  apply_forget(plays, 2, kStartMs + kSlotMs + 5, user, 2, kStartMs + 9);
  apply_forget(plays, 3, kStartMs + 3 * kSlotMs, user, 3, kStartMs + 11);
  for (const Forget& forget : forgets_of(plays, user)) CHECK(forget.late == (forget.item == ItemHash(2)));
}

TEST_CASE("recent plays: of plays below its start it is known that they were logged in merged hours, or before") {
  constexpr int64_t kSlotMs = 3'600'000;
  const std::string user = user_key(1);
  const int64_t merged_ms = kStartMs + kSlotMs;  // Where the merged hours end.
  const int64_t logged_ms = merged_ms + 2 * kSlotMs;
  RecentPlays plays({.slot_ms = kSlotMs, .bytes_max = 1 << 20}, utc_months(), Offset(7), merged_ms);
  const auto is_late = [&](int64_t time_ms) {
    apply_forget(plays, plays.applied().value, logged_ms, user, 1, time_ms);
    const std::vector<Forget> forgets = forgets_of(plays, user);
    return std::ranges::any_of(forgets, [](const Forget& forget) { return forget.late; });
  };
  SECTION("of records below nothing was read") {
    CHECK_FALSE(is_late(merged_ms));
    CHECK(is_late(merged_ms - 1));
  }
  SECTION("the last record below was logged before the hours ended") {
    plays.set_base_log_time(merged_ms - 100, 0);
    CHECK_FALSE(is_late(merged_ms - 100));
    CHECK(is_late(merged_ms - 101));
  }
  SECTION("a play below is ahead of its log time") {
    plays.set_base_log_time(merged_ms - 100, merged_ms + 50);
    plays.set_base_log_time(merged_ms - 90, merged_ms - 95);
    CHECK_FALSE(is_late(merged_ms + 50));
    CHECK(is_late(merged_ms + 49));
  }
  SECTION("records that were not merged have left the log") {
    plays.lost_below_start();
    CHECK_FALSE(is_late(logged_ms));
    CHECK(is_late(logged_ms - 1));
  }
}

TEST_CASE("recent plays: in a log that was made again a forget from before its first record is late") {
  constexpr int64_t kSlotMs = 3'600'000;
  const std::string user = user_key(1);
  const int64_t logged_ms = kStartMs + 5 * kSlotMs;
  for (const int64_t old_hours_end_ms : {int64_t{0}, kStartMs}) {
    RecentPlays plays({.slot_ms = kSlotMs, .bytes_max = 1 << 20}, utc_months(), Offset(0), old_hours_end_ms);
    apply_forget(plays, 0, logged_ms, user, 1, logged_ms);
    apply_forget(plays, 1, logged_ms, user, 2, logged_ms - 1);
    const bool any_merged = old_hours_end_ms > 0;
    for (const Forget& forget : forgets_of(plays, user))
      CHECK(forget.late == (any_merged && forget.item == ItemHash(2)));
  }
}

TEST_CASE("recent plays: after one log time far ahead what is merged is let go slot by slot, as before") {
  constexpr int64_t kSlotMs = 3'600'000;
  constexpr int64_t kHours = 48;
  const std::string user = user_key(1);
  RecentPlays plays({.slot_ms = kSlotMs, .bytes_max = 1 << 20}, utc_months(), Offset(0));
  apply(plays, 0, kStartMs, {{user, 0}});
  apply(plays, 1, kStartMs + 365 * 24 * kSlotMs, {{user, 1}});
  for (int64_t hour = 1; hour <= kHours; ++hour) {
    apply(plays, hour + 1, kStartMs + hour * kSlotMs, {{user, static_cast<uint64_t>(hour) + 1}});
    plays.release(merged_to(hour - 1), kStartMs + (hour - 6) * kSlotMs);
    CHECK(plays.stats().generations <= 10);
  }
  CHECK(plays.stats().recent_from >= Offset(kHours - 8));
}

TEST_CASE("recent plays: a forget that was noted later stays when the record of an earlier one comes") {
  const std::string user = user_key(1);
  RecentPlays plays({}, utc_months(), Offset(0));
  plays.note_forget(user_hash(user), false, ItemHash(7), kStartMs + 10, Offset(0));
  plays.note_forget(user_hash(user), false, ItemHash(7), kStartMs + 20, Offset(1));
  apply_forget(plays, 0, kStartMs, user, 7, kStartMs + 10);
  int64_t newest_ms = 0;
  for (const Forget& forget : forgets_of(plays, user)) newest_ms = std::max(newest_ms, forget.time_ms);
  CHECK(newest_ms == kStartMs + 20);
}

TEST_CASE("recent plays: a forget that is noted after its own record was applied goes with that record") {
  constexpr int64_t kSlotMs = 3'600'000;
  const std::string user = user_key(1);
  RecentPlays plays({.slot_ms = kSlotMs, .bytes_max = 1 << 20}, utc_months(), Offset(0));
  apply(plays, 0, kStartMs, {{user, 7}});
  apply_forget(plays, 1, kStartMs + 5, user, 7, kStartMs + 5);
  plays.note_forget(user_hash(user), false, ItemHash(7), kStartMs + 5, Offset(1));
  CHECK(forgets_of(plays, user).size() == 1);
  REQUIRE(plays.release(merged_to(2), kStartMs + 10 * kSlotMs) == 1);
  CHECK(forgets_of(plays, user).empty());
  plays.note_forget(user_hash(user), false, ItemHash(7), kStartMs + 5, Offset(1));  // The acknowledgement took a lap.
  CHECK(forgets_of(plays, user).empty());
}

TEST_CASE("recent plays: forgets count among the bytes, and merged ones go before their lap when they are too many") {
  constexpr int64_t kForgets = 2'000;
  RecentPlays plays({.slot_ms = kHourMs, .bytes_max = 20'000}, utc_months(), Offset(0));
  for (int64_t i = 0; i < kForgets; ++i)
    apply_forget(plays, i, kStartMs + i, user_key(i % 10), static_cast<uint64_t>(i), kStartMs + i);
  plays.note_forget(user_hash(user_key(3)), false, ItemHash(1'000'000), kStartMs, Offset(kForgets));
  CHECK(plays.stats().bytes >= kForgets * sizeof(Forget));
  CHECK(plays.release(merged_to(0), 0) == 0);
  CHECK(plays.stats().over_bound);  // Not merged: kept, and said.
  CHECK(plays.release(merged_to(kForgets), 0) == 1);
  CHECK(plays.stats().early_releases == 1);
  CHECK_FALSE(plays.stats().over_bound);
  CHECK(plays.stats().forgets == 1);  // The noted one.
  CHECK(plays.stats().bytes > 0);
  apply_forget(plays, kForgets, kStartMs + kHourMs, user_key(3), 1'000'000, kStartMs);
  CHECK(plays.release(merged_to(kForgets + 1), kStartMs + 9 * kHourMs) == 1);
  CHECK(plays.stats().bytes == 0);
}

TEST_CASE("recent plays: however many items are forgotten after everything, everything stays forgotten") {
  ServingWorld world;
  world.play("u1", "v1");
  world.clock.advance_ms(1'000);
  world.forget_all("u1");
  for (size_t i = 0; i <= Forgotten::kItemsMax; ++i) {
    world.clock.advance_ms(1);
    world.forget("u1", "other" + std::to_string(i));
  }
  CHECK(world.seen("u1", "v1") == "unseen");
  world.merge();
  CHECK(world.seen("u1", "v1") == "unseen");
}
