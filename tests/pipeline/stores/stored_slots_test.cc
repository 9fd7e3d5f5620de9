#include "pipeline/stores/stored_slots.h"

#include <catch2/catch.hpp>

#include "pipeline/settings/window_folder.h"
#include "pipeline/stages/topology.h"
#include "pipeline/stores/store_probe.h"
#include "state/window/rocks_window_store.h"
#include "tests/support/folder.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

constexpr int kStoredSeconds = 10;

Settings settings_in(const Folder& folder, std::string_view stage, uint32_t slot_seconds) {
  Settings settings;
  settings.store.path = folder / "store";
  settings.state.path = folder / "state";
  settings.topics.partitions = 4;
  settings.ring.slot_seconds = slot_seconds;
  settings.stages = stages_named(topology(), {stage});
  return settings;
}

// The state that a window stage leaves when it read a partition without plays.
void keep_state_of(const Settings& settings, int32_t partition) {
  std::filesystem::create_directories(settings.state.path);
  const StateMemory memory{StateMemoryConfig{}};
  auto store = RocksWindowStore::open({window_folder(settings, PartitionId(partition)), 4}, memory);
  REQUIRE(store.status().to_string() == "ok");
  WindowState state;
  state.partition_count = 4;
  state.slot_ms = kStoredSeconds * 1000;
  state.hours = {StagedHour{}};
  REQUIRE((*store)->save(state).to_string() == "ok");
}

}  // namespace

TEST_CASE("stored slots: one local state of another length keeps every partition of the process from beginning") {
  const Folder folder;
  const Settings same = settings_in(folder, "window", kStoredSeconds), other = settings_in(folder, "window", 3600);
  CHECK(check_stored_slots(other, nullptr).ok());
  keep_state_of(same, 3);
  CHECK(check_stored_slots(same, nullptr).to_string() == "ok");
  const Status refused = check_stored_slots(other, nullptr);
  CHECK(refused.code() == Code::kInvalid);
  for (const std::string_view words : {"ring.slot_seconds is 3600", "window-3 was written with 10", "slot-length"}) {
    CHECK(refused.message().find(words) != std::string::npos);
  }
  CHECK(check_stored_slots(settings_in(folder, "serve", 3600), nullptr).ok());
}

TEST_CASE("stored slots: a look at the stores finds them, so that `check` says what a start would") {
  const Folder folder;
  const Settings other = settings_in(folder, "window", 3600);
  keep_state_of(other, 0);
  const StoreProbe probe = probe_store(other);
  CHECK(probe.refused.code() == Code::kInvalid);
  CHECK(probe_store(settings_in(folder, "window", kStoredSeconds)).refused.to_string() == "ok");
}
