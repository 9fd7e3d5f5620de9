// The counted bytes of forgets in memory, against those that the allocator gives for them.
#include <malloc.h>

#include <catch2/catch.hpp>

#include "schemas/forgotten.h"
#include "serving/query/recent_plays.h"
#include "tests/support/instrumented.h"
#include "tests/support/serving_world.h"

using namespace bloomring;

namespace {

constexpr uint64_t kUsers = 100'000;

std::string key_of(uint64_t user) { return std::string(UserKey("", "u" + std::to_string(user)).bytes()); }

size_t allocated_bytes() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

MergedWatermark merged_to(int64_t offset) { return {.offset = Offset(offset), .hour = HourIndex(0), .ahead = {}}; }

// Applies the next records: a forget of each user, of the item or (0) of everything. Records are nearly full.
void apply_forgets(RecentPlays& plays, uint64_t users, uint64_t item) {
  constexpr uint64_t kUsersOfRecord = 25'000;
  const EventKind kind = item == 0 ? EventKind::kForgetAll : EventKind::kForget;
  for (uint64_t first = 0; first < users; first += kUsersOfRecord) {
    const Offset offset = plays.applied();
    const int64_t now_ms = kStartMs + offset.value;
    EventBlockBuilder builder;
    for (uint64_t user = first; user < std::min(users, first + kUsersOfRecord); ++user)
      builder.add(key_of(user), {kind, ItemHash(item), now_ms});
    const std::string bytes = builder.finish(kOnly, 1);
    EventBlockReader block = EventBlockReader::open(bytes, kOnly, 1).value();
    plays.apply(offset, now_ms, block);
  }
}

// A whole partition of forgets, filled by `fill`: counted within a tenth of what is allocated, and nothing is left of
// either when they are merged and their lap is over.
void check_bytes(const std::function<void(RecentPlays&)>& fill) {
  RecentPlays plays({.slot_ms = kHourMs}, utc_months(), Offset(0));
  apply_forgets(plays, 1, 1);  // Opens the generation.
  const size_t allocated_before = allocated_bytes();
  fill(plays);
  const size_t counted = plays.stats().bytes;
  if (!kInstrumented) {
    const auto allocated = static_cast<double>(allocated_bytes() - allocated_before);
    CHECK(static_cast<double>(counted) > 0.9 * allocated);
    CHECK(static_cast<double>(counted) < 1.1 * allocated);
  }
  apply_forgets(plays, 1, 2);  // Of a user; forgets that were noted go with their records.
  CHECK(plays.release(merged_to(plays.applied().value), INT64_MAX) > 0);
  CHECK(plays.stats().bytes == 0);
  if (!kInstrumented) CHECK(allocated_bytes() < allocated_before + counted / 50);
}

}  // namespace

TEST_CASE("forget bytes: a forget each of very many users is counted as what it takes") {
  check_bytes([](RecentPlays& plays) { apply_forgets(plays, kUsers, 7); });
}

TEST_CASE("forget bytes: forgets of everything are counted as what they take") {
  check_bytes([](RecentPlays& plays) {
    for (int again = 0; again < 3; ++again) apply_forgets(plays, kUsers, 0);
  });
}

TEST_CASE("forget bytes: many forgets of few users are counted as what they take, and bounded for each user") {
  constexpr uint64_t kFew = kInstrumented ? 2 : 20;
  check_bytes([](RecentPlays& plays) {
    for (uint64_t item = 1; item <= Forgotten::kItemsMax + 100; ++item) apply_forgets(plays, kFew, item);
    CHECK(plays.stats().forgets == kFew * Forgotten::kItemsMax);
  });
}

TEST_CASE("forget bytes: forgets of calls that are not yet read from the log are counted as what they take") {
  check_bytes([](RecentPlays& plays) {
    for (uint64_t user = 0; user < kUsers; ++user)
      plays.note_forget(user_hash(key_of(user)), user % 2 == 0, ItemHash(user % 2 * 7), kStartMs, plays.applied());
  });
}

TEST_CASE("forget bytes: beyond the bound merged forgets go at once, and unmerged ones are kept and reported") {
  constexpr size_t kBound = 1'000'000;
  RecentPlays plays({.slot_ms = 1, .bytes_max = kBound}, utc_months(), Offset(0));
  for (uint64_t item = 1; item <= 30; ++item) apply_forgets(plays, 1'000, item);  // A slot each.
  const size_t all = plays.stats().bytes;
  CHECK(all > kBound);
  CHECK(plays.release(merged_to(0), 0) == 0);
  CHECK(plays.stats().bytes == all);
  CHECK(plays.stats().over_bound);
  CHECK(plays.release(merged_to(30), 0) > 0);
  CHECK(plays.stats().bytes <= kBound);
  CHECK_FALSE(plays.stats().over_bound);
  CHECK(plays.stats().forgets > 0);  // No more went than had to.
  CHECK(plays.stats().early_releases > 0);
}
