#include "state/window/rocks_window_store.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "schemas/window/window_state.h"
#include "tests/simulation/sim_disk.h"
#include "tests/state/window/numbered_blocks.h"
#include "tests/support/child.h"
#include "tests/support/folder.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

// The stores that must obey the same law: how each is opened, and closed in good order.
struct OnDisk {
  Folder folder;
  StateMemory memory{{.cache_bytes = 8 << 20, .write_buffer_bytes = 1 << 20}};
  std::unique_ptr<WindowStore> open() {
    auto store = RocksWindowStore::open({folder / "w", kBlocksPartitionCount}, memory);
    REQUIRE(store.status().to_string() == "ok");
    return std::move(store).value();
  }
};
struct InSimulation {
  simulation::SimDisk disk;
  std::unique_ptr<WindowStore> open() { return std::make_unique<simulation::SimWindowStore>(disk); }
};

std::map<int64_t, std::string> blocks_of(WindowStore& store, int64_t hour) {
  std::map<int64_t, std::string> blocks;
  int64_t last = -1;
  const Status status = store.scan(HourIndex(hour), [&](Offset offset, std::string_view block) {
    REQUIRE(offset.value > last);
    last = offset.value;
    blocks.emplace(offset.value, block);
    return Status();
  });
  REQUIRE(status.ok());
  return blocks;
}

// A state with these hours, each a range of offsets; the last one is filling.
WindowState state_of(const std::vector<StagedHour>& hours) {
  WindowState state;
  state.partition_count = kBlocksPartitionCount;
  state.hours = hours;
  if (!hours.empty()) {
    state.filling = hours.back().hour;
    state.applied = hours.back().range.to;
  }
  return state;
}
StagedHour hour(int64_t number, int64_t from, int64_t to) {
  return {HourIndex(number), {Offset(from), Offset(to)}, 10, 100};
}

void stage(WindowStore& store, int64_t hour_number, int64_t offset, const std::string& block,
           const WindowState& state) {
  REQUIRE(store.stage(HourIndex(hour_number), Offset(offset), block, state).ok());
}

}  // namespace

TEMPLATE_TEST_CASE("window store: a new one holds nothing", "", OnDisk, InSimulation) {
  TestType disk;
  const auto store = disk.open();
  CHECK_FALSE(store->load().value().has_value());
  CHECK(blocks_of(*store, 5).empty());
}

TEMPLATE_TEST_CASE("window store: blocks and state come back together, each hour's blocks in offset order", "", OnDisk,
                   InSimulation) {
  TestType disk;
  const WindowState last = state_of({hour(5, 10, 12), hour(6, 12, 300)});
  {
    const auto store = disk.open();
    stage(*store, 5, 10, "ten", state_of({hour(5, 10, 11)}));
    stage(*store, 5, 11, "eleven", state_of({hour(5, 10, 12)}));
    stage(*store, 6, 255, "two five five", state_of({hour(5, 10, 12), hour(6, 12, 256)}));
    stage(*store, 6, 256, "two five six", state_of({hour(5, 10, 12), hour(6, 12, 257)}));
    REQUIRE(store->save(last).ok());
  }
  const auto store = disk.open();
  CHECK(store->load().value() == last);
  CHECK(blocks_of(*store, 5) == std::map<int64_t, std::string>{{10, "ten"}, {11, "eleven"}});
  CHECK(blocks_of(*store, 6) == std::map<int64_t, std::string>{{255, "two five five"}, {256, "two five six"}});
  CHECK(blocks_of(*store, 7).empty());
}

TEMPLATE_TEST_CASE(
    "window store: a staged block is found by its offset, and what was never staged or was released is not", "", OnDisk,
    InSimulation) {
  TestType disk;
  const auto store = disk.open();
  stage(*store, 5, 10, "ten", state_of({hour(5, 10, 11)}));
  stage(*store, 6, 11, "eleven", state_of({hour(5, 10, 11), hour(6, 11, 12)}));
  CHECK(store->find(HourIndex(5), Offset(10)).value() == "ten");
  CHECK_FALSE(store->find(HourIndex(5), Offset(11)).value().has_value());
  REQUIRE(store->release({HourIndex(5)}, state_of({hour(6, 11, 12)})).ok());
  CHECK_FALSE(store->find(HourIndex(5), Offset(10)).value().has_value());
  CHECK(store->find(HourIndex(6), Offset(11)).value() == "eleven");
}

TEMPLATE_TEST_CASE("window store: a scan stops at the first failure of its visitor", "", OnDisk, InSimulation) {
  TestType disk;
  const auto store = disk.open();
  for (int64_t o = 0; o < 5; ++o) stage(*store, 1, o, "b", state_of({hour(1, 0, o + 1)}));
  int visits = 0;
  const Status status =
      store->scan(HourIndex(1), [&](Offset, std::string_view) { return ++visits == 3 ? retry("full") : Status(); });
  CHECK(status.code() == Code::kRetry);
  CHECK(visits == 3);
}

TEMPLATE_TEST_CASE("window store: a released hour is gone and the others stay, in any order of release", "", OnDisk,
                   InSimulation) {
  TestType disk;
  auto store = disk.open();
  std::vector<StagedHour> hours;
  for (int64_t h = 0; h < 4; ++h) {
    hours.push_back(hour(h, h * 10, h * 10));
    for (int64_t o = h * 10; o < h * 10 + 10; ++o) {
      hours.back().range.to = Offset(o + 1);
      stage(*store, h, o, "block " + std::to_string(o), state_of(hours));
    }
    if (h % 2 == 0) REQUIRE(store->flush().ok());
  }
  for (const int64_t released : {1, 0, 2}) {
    std::erase_if(hours, [&](const StagedHour& h) { return h.hour.value == released; });
    REQUIRE(store->release({HourIndex(released)}, state_of(hours)).ok());
    store.reset();
    store = disk.open();
    CHECK(store->load().value() == state_of(hours));
    CHECK(blocks_of(*store, released).empty());
    for (const StagedHour& h : hours) CHECK(blocks_of(*store, h.hour.value).size() == 10);
  }
  CHECK(blocks_of(*store, 3).at(35) == "block 35");
}

TEMPLATE_TEST_CASE("window store: the newest state is the one that comes back, whatever it says", "", OnDisk,
                   InSimulation) {
  TestType disk;
  auto store = disk.open();
  stage(*store, 9, 90, "b", state_of({hour(9, 90, 91)}));
  const WindowState back = state_of({hour(8, 80, 81)});  // Hours that went back cost space, but are not lost.
  stage(*store, 8, 80, "a", back);
  for (int i = 0; i < 300; ++i) REQUIRE(store->save(back).ok());
  store.reset();
  store = disk.open();
  CHECK(store->load().value() == back);
  CHECK(blocks_of(*store, 8).size() == 1);
}

TEMPLATE_TEST_CASE("window store: cleared, it is new", "", OnDisk, InSimulation) {
  TestType disk;
  auto store = disk.open();
  stage(*store, 9, 90, "b", state_of({hour(9, 90, 91)}));
  REQUIRE(store->clear().ok());
  CHECK_FALSE(store->load().value().has_value());
  stage(*store, 2, 20, "a", state_of({hour(2, 20, 21)}));
  store.reset();
  store = disk.open();
  CHECK(store->load().value() == state_of({hour(2, 20, 21)}));
}

TEST_CASE("window store: released hours give their space back without being written again") {
  OnDisk disk;
  auto opened = RocksWindowStore::open({disk.folder / "w", kBlocksPartitionCount}, disk.memory);
  RocksWindowStore& store = **opened;
  constexpr int64_t kHours = 10, kBlocks = 40;
  std::vector<StagedHour> hours;
  uint64_t most = 0;
  for (int64_t h = 0; h < kHours; ++h) {
    hours.push_back(hour(h, h * kBlocks, h * kBlocks));
    for (int64_t o = h * kBlocks; o < (h + 1) * kBlocks; ++o) {
      hours.back().range.to = Offset(o + 1);
      stage(store, h, o, std::string(64 << 10, 'x'), state_of(hours));
      if (o % 8 == 7) REQUIRE(store.flush().ok());
    }
    if (hours.size() < 3) continue;
    const HourIndex oldest = hours.front().hour;
    hours.erase(hours.begin());
    REQUIRE(store.release({oldest}, state_of(hours)).ok());
    most = std::max(most, store.bytes_on_disk());
  }
  constexpr uint64_t kHourBytes = kBlocks * (64 << 10);
  CHECK(most < 4 * kHourBytes);  // Two hours, the files at their edges, RocksDB's own.
  CHECK(blocks_of(store, kHours - 1).size() == kBlocks);
}

TEST_CASE("window store: the folder of another partition count is refused with what to do") {
  OnDisk disk;
  { REQUIRE(disk.open()->save(state_of({hour(1, 0, 1)})).ok()); }
  const Status status = RocksWindowStore::open({disk.folder / "w", kBlocksPartitionCount + 1}, disk.memory).status();
  CHECK(status.code() == Code::kInvalid);
  CHECK_THAT(status.message(), Catch::Contains("partitions") && Catch::Contains("folder"));
}

TEST_CASE("window store: opened for reading next to its owner, it shows the owner's last flush") {
  OnDisk disk;
  const RocksWindowStoreConfig config{disk.folder / "w", kBlocksPartitionCount};
  CHECK(RocksWindowStore::open_for_reading(config, disk.memory).code() == Code::kInvalid);
  const auto owner = disk.open();
  const WindowState flushed = state_of({hour(5, 10, 11)});
  stage(*owner, 5, 10, "ten", flushed);
  REQUIRE(owner->flush().ok());
  stage(*owner, 5, 11, "eleven", state_of({hour(5, 10, 12)}));
  const auto reader = RocksWindowStore::open_for_reading(config, disk.memory);
  REQUIRE(reader.status().to_string() == "ok");
  CHECK((*reader)->load().value() == flushed);
  CHECK(blocks_of(**reader, 5) == std::map<int64_t, std::string>{{10, "ten"}});
}

TEST_CASE("window store: a damaged folder is corrupt, and new after a wipe") {
  OnDisk disk;
  { REQUIRE(disk.open()->save(state_of({hour(1, 0, 1)})).ok()); }
  for (const auto& file : std::filesystem::directory_iterator(disk.folder / "w")) {
    if (file.path().extension() == ".sst") std::filesystem::resize_file(file.path(), 40);
  }
  CHECK(RocksWindowStore::open({disk.folder / "w", kBlocksPartitionCount}, disk.memory).code() == Code::kCorrupt);
  REQUIRE(RocksWindowStore::wipe(disk.folder / "w").ok());
  CHECK_FALSE(disk.open()->load().value().has_value());
}

TEST_CASE("window store: damage that is found late is told with the way out, and the next start finds it corrupt") {
  OnDisk disk;
  const std::string path = disk.folder / "w";
  {
    const auto store = disk.open();
    for (int64_t offset = 0; offset < 20; ++offset)
      stage(*store, 1, offset, std::string(50'000, 'b'), state_of({hour(1, 0, offset + 1)}));
  }
  for (const auto& file : std::filesystem::directory_iterator(path)) {
    if (file.path().extension() != ".sst") continue;
    std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(1'000);
    bytes << "damage";
  }
  const auto visit = [](Offset, std::string_view) { return Status(); };
  {
    const Status found = disk.open()->scan(HourIndex(1), visit);
    CHECK(found.code() == Code::kCorrupt);
    CHECK_THAT(found.message(), Catch::Contains(path) && Catch::Contains("The next start removes this folder"));
  }
  CHECK(RocksWindowStore::open({path, kBlocksPartitionCount}, disk.memory).code() == Code::kCorrupt);
  REQUIRE(RocksWindowStore::wipe(path).ok());
  CHECK(disk.open()->scan(HourIndex(1), visit).ok());
}

TEST_CASE("window store: killed at any moment, its state and its blocks agree when it is opened again") {
  OnDisk disk;
  std::mt19937 rng(3);
  int64_t reached = 0;
  for (int life = 0; life < 12; ++life) {
    {
      Child writer("window_store_writer", {disk.folder / "w"});
      const auto lines = static_cast<int>(rng() % 60) + 1;
      for (int i = 0; i < lines; ++i) REQUIRE_FALSE(writer.line().empty());
      writer.kill_now();
    }
    const auto store = disk.open();
    const auto state = store->load().value();
    if (!state) continue;
    INFO("life " << life << ", applied " << state->applied.value);
    CHECK(state->applied.value >= reached);
    reached = state->applied.value;
    for (const StagedHour& staged : state->hours) {
      const auto blocks = blocks_of(*store, staged.hour.value);
      REQUIRE(blocks.size() == static_cast<size_t>(staged.range.to.value - staged.range.from.value));
      for (const auto& [offset, block] : blocks) REQUIRE(block == numbered_block(Offset(offset)));
      REQUIRE(blocks.begin()->first == staged.range.from.value);
    }
    CHECK((*state == numbered_state(state->applied) || *state == released_state(state->applied)));
  }
  CHECK(reached > 0);
}

TEST_CASE("window store: what its databases look for in the cache is counted over all of them") {
  OnDisk disk;
  {
    const auto store = disk.open();
    for (int64_t o = 0; o < 50; ++o) stage(*store, 1, o, std::string(1000, 'b'), state_of({hour(1, 0, o + 1)}));
    REQUIRE(store->flush().ok());
  }
  const auto health = [&] { return disk.memory.health(RocksKind::kWindow); };
  const auto store = disk.open();
  CHECK(blocks_of(*store, 1).size() == 50);
  const RocksHealth once = health();
  CHECK(once.cache_misses > 0);
  CHECK(blocks_of(*store, 1).size() == 50);
  CHECK(health().cache_hits + health().cache_misses > once.cache_hits + once.cache_misses);
  CHECK_FALSE(health().write_stopped);
  CHECK(health().background_errors == 0);
  CHECK(disk.memory.health(RocksKind::kFilters).cache_misses == 0);
}
