#include "state/store/embedded/embedded_filter_store.h"

#include <catch2/catch.hpp>
#include <type_traits>

#include "schemas/bytes.h"
#include "state/store/embedded/embedded_filter_follower.h"
#include "tests/state/store/filter_store_beds.h"
#include "tests/support/child.h"
#include "tests/support/manual_clock.h"
#include "tests/support/numbered_plays.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

Status open_again(EmbeddedBed& bed, uint32_t partition_count) {
  EmbeddedFilterStoreConfig config = bed.config();
  config.partition_count = partition_count;
  return EmbeddedFilterStore::open(config, bed.calendar, bed.clock, bed.memory()).status();
}

std::unique_ptr<EmbeddedFilterFollower> follow(EmbeddedBed& bed) {
  auto follower = EmbeddedFilterFollower::follow(bed.config(), bed.calendar, bed.clock, bed.memory());
  REQUIRE(follower.ok());
  return std::move(follower).value();
}

// Of a store of kBedPartitions.
std::string version_1_description() {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.u8(1);
  writer.u32(kBedPartitions);
  writer.u64(hash_bytes(bytes, hash_bytes(kMetaKey, 0)));
  return bytes;
}

size_t read_by(LocalFilterReader& store, const std::string& name) {
  std::vector<StoredFilter> filters;
  const PeriodIndex period(kNow);
  REQUIRE(store.read(user(name), {&period, 1}, filters).ok());
  return filters.size();
}

}  // namespace

TEST_CASE("embedded filter store: two processes cannot write it, and the message says how to go on") {
  EmbeddedBed bed;
  const Status status = open_again(bed, kBedPartitions);
  CHECK(status.code() == Code::kInvalid);
  CHECK_THAT(status.message(), Catch::Contains("in use by another process") && Catch::Contains("one merge process") &&
                                   Catch::Contains(bed.config().path));
}

TEST_CASE("embedded filter store: it is bound to its partition count, and the message says how to go on") {
  EmbeddedBed bed;
  bed.close();
  const Status status = open_again(bed, 50);
  CHECK(status.code() == Code::kInvalid);
  CHECK_THAT(status.message(), Catch::Contains("4 partitions") && Catch::Contains("50") && Catch::Contains("replay"));
}

TEST_CASE("embedded filter store: another period or time zone is refused, since its filters would not be found") {
  EmbeddedBed bed;
  bed.play("u1", kNow, {"v1"});
  bed.close();
  RetentionConfig other;
  SECTION("period") { other.unit = PeriodUnit::kWeek; }
  SECTION("time zone") { other.time_zone = "Asia/Shanghai"; }
  const Calendar calendar = std::move(Calendar::create(other)).value();
  const Status written = EmbeddedFilterStore::open(bed.config(), calendar, bed.clock, bed.memory()).status();
  CHECK(written.code() == Code::kInvalid);
  CHECK_THAT(written.message(), Catch::Contains(bed.config().path) && Catch::Contains("again"));
  const auto followed = EmbeddedFilterFollower::follow(bed.config(), calendar, bed.clock, bed.memory());
  CHECK(followed.code() == Code::kInvalid);
  bed.open();
  CHECK(bed.seen("u1", kNow, {"v1"}) == "v1");
}

TEST_CASE("embedded filter store: one of a version that named no period takes the configured one and keeps it") {
  EmbeddedBed bed;
  bed.write_row(std::string(kMetaKey), version_1_description());
  bed.close();
  RetentionConfig weeks;
  weeks.unit = PeriodUnit::kWeek;
  const Calendar calendar = std::move(Calendar::create(weeks)).value();
  CHECK(EmbeddedFilterStore::open(bed.config(), calendar, bed.clock, bed.memory()).code() == Code::kInvalid);
}

TEST_CASE("embedded filter store: compactions drop what has expired and keep the rest") {
  EmbeddedBed bed;
  for (int u = 0; u < 50; ++u) {
    bed.play("u" + std::to_string(u), kNow, {"a"});
    bed.play("u" + std::to_string(u), kNow - 3, {"b"});
    if (u % 7 == 0) bed.settle();
  }
  bed.pass_to_ms(bed.calendar.start_ms(PeriodIndex(kNow - 3 + 8)));
  bed.settle();
  CHECK(bed.store().stats().expired_dropped == 50);
  CHECK(bed.scanned() == 50);
  bed.pass_to_ms(bed.calendar.start_ms(PeriodIndex(kNow + 8)));
  bed.play("new", kNow + 8, {"c"});
  bed.settle();
  bed.clock.advance_to_ms(kNowMs);  // What is left is what was not dropped: reads hide nothing at this time.
  CHECK(bed.scanned() == 1);
}

TEST_CASE("embedded filter store: what was forgotten goes with the last filter that it could speak of") {
  EmbeddedBed bed;
  bed.forget_everything("u1", bed.calendar.start_ms(PeriodIndex(kNow)), 0, 0);
  bed.pass_to_ms(bed.calendar.start_ms(PeriodIndex(kNow + 7)) - 1);
  bed.settle();
  CHECK_FALSE(bed.forgotten("u1").empty());
  bed.pass_to_ms(bed.calendar.start_ms(PeriodIndex(kNow + 8)));
  bed.settle();
  CHECK(bed.forgotten("u1").empty());
}

TEST_CASE("embedded filter store: a filter whose period is over is folded to fewer bits and holds what it held") {
  EmbeddedBed bed;
  std::vector<std::string> items;
  for (int i = 0; i < 1000; ++i) items.push_back("v" + std::to_string(i));
  bed.play("u1", kNow, items);
  bed.settle();
  const size_t open_bytes = bed.read("u1", {kNow}).at(0).value.size();
  bed.pass_to_ms(bed.calendar.start_ms(PeriodIndex(kNow + 2)));
  bed.play("u1", kNow, {"late"});
  bed.settle();
  const StoredFilter folded = bed.read("u1", {kNow}).at(0);
  CHECK(filter::summarize(folded.value, folded.store_key)->folded);
  CHECK(folded.value.size() < open_bytes);
  CHECK(bed.seen("u1", kNow, {"v0", "v999", "late"}) == "v0v999late");
}

TEST_CASE("embedded filter store: a blind update costs the bytes of its items, and what was written is counted") {
  EmbeddedBed bed;
  std::vector<std::string> items;
  for (int i = 0; i < 2000; ++i) items.push_back("v" + std::to_string(i));
  bed.play("u1", kNow, items);
  const uint64_t before = bed.store().stats().bytes_written;
  bed.play("u1", kNow, {"one", "two", "three", "four"});
  CHECK(bed.store().stats().bytes_written - before < 64);
  bed.settle();
  const FilterStoreStats stats = bed.store().stats();
  CHECK(stats.updates == 2);
  CHECK(stats.physical_bytes_written > stats.bytes_written);
  CHECK(stats.bytes_on_disk > 4000);
}

TEST_CASE("embedded filter store: nothing that was applied is lost when the process is killed") {
  Folder folder;
  const ManualClock clock(kPlaysNowMs);
  const StateMemory memory(plays_memory());
  int64_t applied = 0;
  for (int life = 1; life <= 4; ++life) {
    Child writer("filter_store_writer", {folder / "store", "1000000", "unsynced"});
    while (applied < life * 2000) applied = std::stoll(writer.line());
    writer.kill_now();
    const auto store = EmbeddedFilterStore::open(plays_store(folder / "store"), plays_calendar(), clock, memory);
    REQUIRE(store.ok());
    for (int64_t offset = 0; offset < applied; offset += 3) REQUIRE(has_play(**store, offset).value());
  }
}

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
