#include "pipeline/stores/stored_slots.h"

#include <filesystem>

#include "pipeline/settings/window_folder.h"
#include "state/slot_length.h"
#include "state/window/rocks_window_store.h"

namespace bloomring {

namespace {

// State that cannot be read is no error here: the window stage says what is wrong, or reads the log again.
Status check_local_slots(const Settings& settings, PartitionId partition, const StateMemory& memory) {
  const std::string path = window_folder(settings, partition);
  std::error_code error;
  if (!std::filesystem::exists(path + "/CURRENT", error)) return {};
  const auto store = RocksWindowStore::open_for_reading({path, settings.topics.partitions}, memory);
  if (!store.ok()) return {};
  const auto state = (*store)->load();
  if (!state.ok() || !*state) return {};
  return check_slot_length((*state)->slot_ms, settings.ring.slot_ms(), "the window stage's local state in " + path);
}

}  // namespace

Status check_stored_slots(const Settings& settings, FilterReader* reader) {
  const StateMemory memory{StateMemoryConfig{}};
  const bool keeps = keep_state(settings.stages);
  for (uint32_t p = 0; p < settings.topics.partitions; ++p) {
    const PartitionId partition(static_cast<int32_t>(p));
    int64_t merged_ms = 0;
    if (reader != nullptr) {
      const auto watermark = reader->read_watermark(partition);
      if (!watermark.ok()) continue;
      merged_ms = *watermark ? (*watermark)->slot_ms : 0;
      BLOOMRING_TRY(check_slot_length(merged_ms, settings.ring.slot_ms(), "the merged watermark"));
    }
    if (keeps && merged_ms == 0) BLOOMRING_TRY(check_local_slots(settings, partition, memory));
  }
  return {};
}

}  // namespace bloomring
