#include "state/store/embedded/embedded_filter_store.h"

#include <catch2/catch.hpp>

#include "schemas/pieces/bytes.h"
#include "schemas/store_key.h"
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

// Of a store of kBedPartitions.
std::string version_1_description() {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.u8(1);
  writer.u32(kBedPartitions);
  writer.u64(hash_bytes(bytes, hash_bytes(kMetaKey, 0)));
  return bytes;
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

TEST_CASE("embedded filter store: its key of slot ends is its own, stays, and is heard by a follower") {
  EmbeddedBed bed, other;
  const std::optional<SumKey> key = bed.embedded().slot_end_key().value();
  REQUIRE(key);
  CHECK_FALSE(key == other.embedded().slot_end_key().value());
  bed.reopen();
  CHECK(bed.embedded().slot_end_key().value() == key);
  const auto follower = EmbeddedFilterFollower::follow(bed.config(), bed.calendar, bed.clock, bed.memory());
  REQUIRE(follower.ok());
  CHECK((*follower)->slot_end_key().value() == key);
  CHECK(bed.embedded().check({}).value().sound());
}

TEST_CASE("embedded filter store: a key of slot ends that cannot be read is replaced by the next start") {
  EmbeddedBed bed;
  const std::optional<SumKey> key = bed.embedded().slot_end_key().value();
  bed.write_row(std::string(kSlotEndKeyKey), "garbage");  // Opens the store again.
  REQUIRE(bed.embedded().slot_end_key().value());
  CHECK_FALSE(bed.embedded().slot_end_key().value() == key);
  CHECK(bed.embedded().check({}).value().sound());
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
