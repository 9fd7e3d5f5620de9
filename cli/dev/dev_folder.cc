#include "cli/dev/dev_folder.h"

#include <filesystem>
#include <fstream>

#include "base/log.h"
#include "pipeline/settings/window_folder.h"
#include "pipeline/stores/open_stores.h"
#include "state/slot_length.h"

namespace bloomring {

namespace {

namespace fs = std::filesystem;

// Its text is for people.
constexpr const char* kMark = "dev";

bool has_store(const std::string& folder) {
  std::error_code absent;
  return fs::exists(folder, absent) && !fs::is_empty(folder, absent);
}

Status mark_as_own(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  std::ofstream file(fs::path(folder) / kMark);
  file << "This folder was made by `bloomring dev`, which begins a new log in it at each start.\n";
  file.close();
  if (file.good()) return {};
  return fatal("--data: " + folder + " cannot be written: " + (error ? error.message() : "check its owner and mode"));
}

Status begin_log_of_store(const Settings& settings, const Clock& clock) {
  BLOOMRING_TRY_ASSIGN(const Calendar calendar, Calendar::create(settings.retention()));
  const StateMemory memory{StateMemoryConfig{}};
  BLOOMRING_TRY_ASSIGN(const FilterStores stores, open_stores(settings, StoreRole::kWrites, {calendar, clock, memory}));
  BLOOMRING_TRY(stores.admin->begin_new_log());
  for (uint32_t p = 0; p < settings.topics.partitions; ++p) {
    const PartitionId partition(static_cast<int32_t>(p));
    BLOOMRING_TRY_ASSIGN(const auto watermark, stores.reader->read_watermark(partition));
    if (!watermark || watermark->slot_ms == 0) continue;  // No slot of it was ever merged.
    BLOOMRING_TRY_ASSIGN(const MergedWatermark changed,
                         with_slot_length(*watermark, settings.ring.slot_ms(), Offset(0)));
    BLOOMRING_TRY_ASSIGN(const auto writer, stores.writer->take_over(partition));
    BLOOMRING_TRY(advance_now(*writer, changed));
  }
  return {};
}

}  // namespace

Status begin_log_in(const std::string& folder, const Settings& settings, const Clock& clock) {
  const auto store = settings.store.folder();
  if (!store) return {};
  if (!has_store(*store)) return mark_as_own(folder);
  std::error_code absent;
  if (!fs::exists(fs::path(folder) / kMark, absent)) {
    return invalid("--data: " + *store +
                   " is a filter store that no `bloomring dev` of this version has made, and its log is not here; "
                   "name an empty folder");
  }
  log_info("filters of an earlier start are kept; plays that it had not merged are lost", {{"folder", folder}});
  BLOOMRING_TRY(begin_log_of_store(settings, clock).with_context("--data"));
  return remove_window_folders(settings);
}

}  // namespace bloomring
