#include "state/store/embedded/store_backup.h"

#include <catch2/catch.hpp>
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "state/store/embedded/embedded_filter_follower.h"
#include "tests/state/store/filter_store_beds.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

struct Rig {
  EmbeddedBed bed;
  std::string backups = bed.folder / "backups";

  StoreBackup back_up(uint32_t kept = 24) {
    auto taken = bed.embedded().back_up({backups, kept});
    INFO(taken.status().message());
    REQUIRE(taken.ok());
    return *taken;
  }
  // The store at another place, as it was at the backup.
  EmbeddedFilterStoreConfig restored(uint32_t id, const std::string& name) {
    EmbeddedFilterStoreConfig config = bed.config();
    config.path = bed.folder / name;
    const auto status = restore_backup(backups, id, config.path).status();
    INFO(status.message());
    REQUIRE(status.ok());
    return config;
  }
  std::unique_ptr<EmbeddedFilterStore> open(const EmbeddedFilterStoreConfig& config) {
    auto opened = EmbeddedFilterStore::open(config, bed.calendar, bed.clock, bed.memory());
    REQUIRE(opened.ok());
    return std::move(*opened);
  }
  void merge_below(int64_t offset) {
    MergedWatermark watermark;
    watermark.add({Offset(0), Offset(offset)}, HourIndex(1));
    REQUIRE(bed.store().advance(PartitionId(1), watermark).ok());
  }
};

size_t filters_of(LocalFilterReader& store, const std::string& name) {
  std::vector<StoredFilter> filters;
  const PeriodIndex period(kNow);
  REQUIRE(store.read(user(name), {&period, 1}, filters).ok());
  return filters.size();
}

// Turns a byte in the middle of the file around.
void damage(const std::filesystem::path& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(path) / 2);
  file.seekg(middle);
  const char byte = static_cast<char>(file.get());
  file.seekp(middle);
  file.put(static_cast<char>(byte ^ 0x40));
}

std::vector<std::filesystem::path> files_under(const std::string& folder, const std::string& extension) {
  std::vector<std::filesystem::path> found;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().extension() == extension) found.push_back(file.path());
  }
  return found;
}

}  // namespace

TEST_CASE("store backup: what is restored has the filters and the watermark of its time, and not what came later") {
  Rig rig;
  rig.bed.play("early", kNow, {"a"});
  rig.merge_below(10);
  const StoreBackup first = rig.back_up();
  rig.bed.play("late", kNow, {"b"});
  rig.merge_below(20);
  const StoreBackup second = rig.back_up();
  CHECK(second.id > first.id);

  const auto old = rig.open(rig.restored(first.id, "old"));
  CHECK(filters_of(*old, "early") == 1);
  CHECK(filters_of(*old, "late") == 0);
  CHECK((*old->read_watermark(PartitionId(1)))->offset == Offset(10));
  const auto newest = rig.open(rig.restored(0, "newest"));
  CHECK(filters_of(*newest, "late") == 1);
  CHECK((*newest->read_watermark(PartitionId(1)))->offset == Offset(20));
}

TEST_CASE("store backup: it is taken while the writer runs, copies only what is new, and old ones go") {
  Rig rig;
  for (int u = 0; u < 2000; ++u) rig.bed.play("u" + std::to_string(u), kNow, {"a", "b", "c"});
  const StoreBackup whole = rig.back_up();
  CHECK(whole.bytes_new > 20'000);
  rig.bed.play("one more", kNow, {"d"});
  const StoreBackup small = rig.back_up();
  CHECK(small.bytes > whole.bytes);
  CHECK(small.bytes_new < whole.bytes_new / 10);
  rig.bed.play("and one", kNow, {"e"});
  rig.back_up(2);
  const auto left = list_backups(rig.backups);
  REQUIRE(left.ok());
  REQUIRE(left->size() == 2);
  CHECK(left->front().id == small.id);
}

TEST_CASE("store backup: however many are taken at once, the last one of each of seven days stays") {
  constexpr int64_t kHour = 3'600'000, kDay = 24 * kHour;
  std::vector<StoreBackup> taken;
  uint32_t id = 0;
  for (int64_t day = 0; day < 10; ++day) {
    for (const int64_t hour : {2, 14}) taken.push_back({.id = ++id, .time_ms = day * kDay + hour * kHour});
  }
  // Ids 19 and 20 are of the last day; 8 is the last one of the seventh day before the end.
  const std::vector<uint32_t> kept_two = {1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 15, 17};
  auto removed = backups_to_remove(taken, 2);
  std::ranges::sort(removed);
  CHECK(removed == kept_two);
  for (int i = 0; i < 30; ++i) taken.push_back({.id = ++id, .time_ms = 9 * kDay + 15 * kHour});
  removed = backups_to_remove(taken, 24);
  for (const uint32_t last : {8, 10, 12, 14, 16, 18}) {
    CHECK(std::ranges::find(removed, last) == removed.end());
  }
  CHECK(taken.size() - removed.size() == 24 + 6);
}

TEST_CASE("store backup: one at least stays, and none go before there are too many") {
  CHECK(backups_to_remove({}, 0).empty());
  CHECK(backups_to_remove({{.id = 1, .time_ms = 5}}, 0).empty());
  CHECK(backups_to_remove({{.id = 1, .time_ms = 5}, {.id = 2, .time_ms = 6}}, 0) == std::vector<uint32_t>{1});
  CHECK(backups_to_remove({{.id = 1, .time_ms = 5}, {.id = 2, .time_ms = 6}}, 2).empty());
}

TEST_CASE("store backup: nothing is overwritten by a restore, and a number that is none is said") {
  Rig rig;
  rig.bed.play("u", kNow, {"a"});
  rig.back_up();
  const Status over = restore_backup(rig.backups, 0, rig.bed.config().path).status();
  CHECK(over.code() == Code::kInvalid);
  CHECK_THAT(over.message(), Catch::Contains("is not empty"));
  CHECK(restore_backup(rig.backups, 77, rig.bed.folder / "x").code() == Code::kInvalid);
  CHECK(restore_backup(rig.bed.folder / "nowhere", 0, rig.bed.folder / "x").code() == Code::kInvalid);
  CHECK_FALSE(std::filesystem::exists(rig.bed.folder / "x"));
}

TEST_CASE("store backup: a damaged file is found by a check and by a restore, and nothing is restored from it") {
  Rig rig;
  for (int u = 0; u < 500; ++u) rig.bed.play("u" + std::to_string(u), kNow, {"a", "b"});
  const StoreBackup taken = rig.back_up();
  const auto sound =
      check_backup(rig.backups, taken.id, rig.bed.config(), rig.bed.calendar, rig.bed.clock, rig.bed.memory());
  REQUIRE(sound.ok());
  CHECK(sound->sound());
  CHECK(sound->filters == 500);
  damage(files_under(rig.backups, ".sst").at(0));
  CHECK_FALSE(
      check_backup(rig.backups, taken.id, rig.bed.config(), rig.bed.calendar, rig.bed.clock, rig.bed.memory()).ok());
  CHECK_FALSE(restore_backup(rig.backups, taken.id, rig.bed.folder / "x").ok());
  CHECK_FALSE(std::filesystem::exists(rig.bed.folder / "x"));
}

TEST_CASE("store backup: old backups are removed, except the newest one") {
  Rig rig;
  const StoreBackup first = rig.back_up();
  const StoreBackup second = rig.back_up();
  CHECK(rig.bed.embedded().remove_backups(rig.backups, first.time_ms).value() == 0);
  const StoreBackup third = rig.back_up();
  CHECK(rig.bed.embedded().remove_backups(rig.backups, INT64_MAX).value() == 2);
  const auto left = list_backups(rig.backups);
  REQUIRE(left->size() == 1);
  CHECK(left->at(0).id == third.id);
  CHECK(second.id != third.id);
  CHECK(rig.bed.embedded().remove_backups(rig.bed.folder / "none", INT64_MAX).value() == 0);
}

TEST_CASE("store backup: backups are listed while the writer removes old ones") {
  constexpr int kRounds = 40;
  Rig rig;
  rig.back_up();
  std::atomic<bool> ended = false;
  std::thread writer([&] {
    for (int round = 0; round < kRounds; ++round) {
      (void)rig.bed.embedded().back_up({rig.backups, 24});
      (void)rig.bed.embedded().remove_backups(rig.backups, INT64_MAX);
    }
    ended = true;
  });
  std::string failed;
  while (!ended) {
    const auto listed = list_backups(rig.backups);
    if (!listed.ok() && failed.empty()) failed = listed.status().message();
  }
  writer.join();
  CHECK(failed == "");
  CHECK(list_backups(rig.backups)->size() == 1);
}

TEST_CASE("store backup: a follower sees a store that was restored in its place, with its older watermark") {
  Rig rig;
  rig.bed.play("early", kNow, {"a"});
  rig.merge_below(10);
  rig.back_up();
  rig.merge_below(20);
  auto follower = EmbeddedFilterFollower::follow(rig.bed.config(), rig.bed.calendar, rig.bed.clock, rig.bed.memory());
  REQUIRE(follower.ok());
  CHECK((*(*follower)->read_watermark(PartitionId(1)))->offset == Offset(20));
  rig.bed.close();
  std::filesystem::rename(rig.bed.config().path, rig.bed.folder / "away");
  REQUIRE(restore_backup(rig.backups, 0, rig.bed.config().path).ok());
  rig.bed.open();  // The merge process.
  REQUIRE((*follower)->refresh().ok());
  CHECK((*(*follower)->read_watermark(PartitionId(1)))->offset == Offset(10));
  CHECK((*follower)->slot_end_key().value() == rig.bed.embedded().slot_end_key().value());
}

TEST_CASE("store: for a new log watermarks begin at offset 0, hours and merged log time go on, and filters stay") {
  Rig rig;
  rig.bed.play("u", kNow, {"a"});
  rig.merge_below(10);
  const MergedWatermark old = **rig.bed.store().read_watermark(PartitionId(1));
  const SumKey old_key = **rig.bed.embedded().slot_end_key();
  REQUIRE(rig.bed.embedded().begin_new_log().ok());
  CHECK_FALSE(**rig.bed.embedded().slot_end_key() == old_key);  // Slot ends of the old log name other offsets.
  rig.bed.reopen();
  const MergedWatermark merged = **rig.bed.store().read_watermark(PartitionId(1));
  CHECK(merged.offset == Offset(0));
  CHECK(merged.hour == old.hour);
  CHECK(merged.merged_ms == old.merged_ms);
  CHECK((*rig.bed.store().read_watermark(PartitionId(0)))->offset == Offset(0));
  CHECK(filters_of(rig.bed.store(), "u") == 1);
}
