#include "state/store/embedded/embedded_filter_follower.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <random>
#include <type_traits>

#include "tests/state/store/filter_store_beds.h"
#include "tests/support/child.h"
#include "tests/support/folder.h"
#include "tests/support/manual_clock.h"
#include "tests/support/numbered_plays.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

struct Fixture {
  Folder folder;
  ManualClock clock{kPlaysNowMs};
  StateMemory memory{plays_memory()};

  std::unique_ptr<EmbeddedFilterFollower> follow() {
    auto follower = EmbeddedFilterFollower::follow(plays_store(folder / "store"), plays_calendar(), clock, memory);
    REQUIRE(follower.ok());
    return std::move(follower).value();
  }
  Child write_until(int64_t plays) { return Child("filter_store_writer", {folder / "store", std::to_string(plays)}); }
};

int64_t watermark_of(LocalFilterReader& store) {
  const auto watermark = store.read_watermark(PartitionId(0));
  return watermark.ok() && *watermark ? (*watermark)->offset.value : 0;
}

// The newest plays below the watermark, and some of all.
void expect_seen_below(LocalFilterReader& store, int64_t watermark, std::mt19937& rng) {
  for (int64_t back = 1; back <= std::min<int64_t>(watermark, 150); ++back) {
    INFO("play " << watermark - back << " below watermark " << watermark);
    const auto seen = has_play(store, watermark - back);
    REQUIRE(seen.status().to_string() == "ok");
    REQUIRE(*seen);
  }
  for (int i = 0; i < 50 && watermark > 0; ++i) {
    const auto offset = static_cast<int64_t>(rng() % static_cast<uint64_t>(watermark));
    INFO("play " << offset << " below watermark " << watermark);
    REQUIRE(has_play(store, offset).value());
  }
}

std::unique_ptr<EmbeddedFilterFollower> follow(EmbeddedBed& bed) {
  auto follower = EmbeddedFilterFollower::follow(bed.config(), bed.calendar, bed.clock, bed.memory());
  REQUIRE(follower.ok());
  return std::move(follower).value();
}

size_t read_by(LocalFilterReader& store, const std::string& name) {
  std::vector<StoredFilter> filters;
  const PeriodIndex period(kNow);
  REQUIRE(store.read(user(name), {&period, 1}, filters).ok());
  return filters.size();
}

}  // namespace

TEST_CASE("follower: before there is a store it says so, and takes it up when there is one") {
  EmbeddedBed bed;
  bed.close();
  std::filesystem::remove_all(bed.config().path);
  const auto follower = follow(bed);
  std::vector<StoredFilter> filters;
  const PeriodIndex period(kNow);
  const Status status = follower->read(user("u1"), {&period, 1}, filters);
  CHECK(status.code() == Code::kRetry);
  CHECK_THAT(status.message(), Catch::Contains("not created yet"));
  CHECK(follower->read_watermark(PartitionId(0)).code() == Code::kRetry);
  CHECK(follower->refresh().code() == Code::kRetry);

  bed.open();
  bed.play("u1", kNow, {"a"});
  REQUIRE(follower->refresh().ok());
  CHECK(read_by(*follower, "u1") == 1);
}

TEST_CASE("follower: it sees what was written before its last refresh, memory, files and deletions alike") {
  EmbeddedBed bed;
  const auto follower = follow(bed);
  for (int i = 0; i < 40; ++i) {
    const std::string name = "u" + std::to_string(i);
    bed.play(name, kNow, {"a"});
    MergedWatermark watermark;
    watermark.add({Offset(0), Offset(i + 1)}, HourIndex(i));
    REQUIRE(bed.store().advance(PartitionId(3), watermark).ok());
    if (i % 3 == 0) bed.settle();
    if (i % 7 == 0) bed.reopen();
    REQUIRE(follower->refresh().ok());
    if (i % 5 == 0) bed.settle();  // Files that the follower reads are removed behind its back.
    for (int j = 0; j <= i; ++j) REQUIRE(read_by(*follower, "u" + std::to_string(j)) == 1);
    CHECK(follower->read_watermark(PartitionId(3)).value() == watermark);
  }
  int filters = 0;
  REQUIRE(follower->scan([&](const StoredFilter&, std::string_view) { return ++filters > 0; }).ok());
  CHECK(filters == 40);
}

TEST_CASE("follower: a store that was replaced is taken up, with its own watermark") {
  EmbeddedBed bed;
  const auto follower = follow(bed);
  MergedWatermark watermark;
  watermark.add({Offset(0), Offset(100)}, HourIndex(1));
  bed.play("old", kNow, {"a"});
  REQUIRE(bed.store().advance(PartitionId(0), watermark).ok());
  REQUIRE(follower->refresh().ok());
  bed.close();
  std::filesystem::remove_all(bed.config().path);
  CHECK(follower->refresh().code() == Code::kRetry);
  CHECK(read_by(*follower, "old") == 1);  // Still serves what it has.
  bed.open();
  bed.play("new", kNow, {"a"});
  REQUIRE(follower->refresh().ok());
  CHECK(read_by(*follower, "old") == 0);
  CHECK(read_by(*follower, "new") == 1);
  CHECK_FALSE(follower->read_watermark(PartitionId(0)).value().has_value());
}

TEST_CASE("follower: it is no writer, and refuses a store of another partition count") {
  static_assert(!std::is_base_of_v<FilterWriter, EmbeddedFilterFollower>);
  EmbeddedBed bed;
  const auto follower = follow(bed);
  CHECK(follower->begin_new_log().code() == Code::kInvalid);
  EmbeddedFilterStoreConfig other = bed.config();
  other.partition_count = 50;
  CHECK(EmbeddedFilterFollower::follow(other, bed.calendar, bed.clock, bed.memory()).code() == Code::kInvalid);
}

TEST_CASE("follower: it sees what a watermark covers while the writer writes, compacts, dies and comes back") {
  constexpr int64_t kPlays = 30000;
  constexpr int kKills = 6;
  Fixture f;
  std::mt19937 rng(11);
  const auto follower = f.follow();
  int64_t last = 0;
  for (int life = 0; life <= kKills; ++life) {
    Child writer = f.write_until(kPlays);
    const int64_t until = kPlays * (life + 1) / (kKills + 1);
    for (int64_t written = 0; last < until;) {
      if (written < until) {
        const std::string line = writer.line();
        written = line.empty() ? until : std::stoll(line);
      }
      const Status status = follower->refresh();
      if (status.code() == Code::kRetry) continue;
      REQUIRE(status.to_string() == "ok");
      const int64_t watermark = watermark_of(*follower);
      REQUIRE(watermark >= last);
      last = watermark;
      expect_seen_below(*follower, watermark, rng);
    }
    if (life == kKills)
      CHECK(writer.wait() == 0);
    else
      writer.kill_now();
  }
}
