#include "cli/check/check_stores.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "base/clock.h"
#include "pipeline/settings/window_folder.h"
#include "pipeline/stores/open_stores.h"
#include "state/window/rocks_window_store.h"

namespace bloomring::cli {
namespace {

// The process that holds the lock of a RocksDB folder; 0 when none does.
pid_t writer_of(const std::string& folder) {
  const int file = ::open((folder + "/LOCK").c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return 0;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool told = ::fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  ::close(file);
  return told ? lock.l_pid : 0;
}

void tell_writer(const std::string& key, const std::string& path, CheckReport& report) {
  const pid_t writer = writer_of(path);
  if (writer == 0) return;
  report.warnings.push_back(key + " is " + path + ", in use by process " + std::to_string(writer) +
                            "; a second process of this configuration would be refused while that one runs");
}

void warn_of_files(const FilterStoreStats& stats, const std::string& path, CheckReport& report) {
  if (stats.table_files <= stats.open_files_max / 4 * 3) return;
  report.warnings.push_back("store.path is " + path + ", with " + std::to_string(stats.table_files) +
                            " table files, and a process may have " + std::to_string(stats.open_files_max) +
                            " of them open at once, half of its limit on open files: reads open files again and "
                            "again; raise the limit (LimitNOFILE= of the unit, ulimit -n)");
}

Status follow_store(const Settings& settings, CheckReport& report) {
  BLOOMRING_TRY_ASSIGN(const Calendar calendar, Calendar::create(settings.retention()));
  const SystemClock clock;
  const StateMemory memory{StateMemoryConfig{}};
  BLOOMRING_TRY_ASSIGN(const FilterStores stores, open_stores(settings, StoreRole::kReads, {calendar, clock, memory}));
  const Status found = stores.reader->refresh();
  if (settings.store.kind == StoreKind::kRedis && found.code() == Code::kRetry &&
      found.message().find("no filter store is there yet") != std::string::npos) {
    report.warnings.push_back(describe_store_place(settings) +
                              ", where no filter store is yet; the merge stage makes it");
    return {};
  }
  BLOOMRING_TRY(Status(found));
  warn_of_files(stores.admin->stats(), settings.store.path, report);
  return {};
}

}  // namespace

void check_store(const Settings& settings, CheckReport& report) {
  const std::string& path = settings.store.path;
  const StoreRole role = store_role(settings.stages);
  if (role == StoreRole::kNone) return;
  if (settings.store.kind == StoreKind::kRedis) {
    report.passes("store", follow_store(settings, report).with_context(describe_store_place(settings)));
    return;
  }
  if (!std::filesystem::exists(path + "/CURRENT")) {
    report.warnings.push_back("store.path is " + path + ", where no filter store is yet; the merge stage makes it");
    return;
  }
  report.passes("store", follow_store(settings, report).with_context("store.path is " + path));
  if (role == StoreRole::kWrites) tell_writer("store.path", path, report);
}

void check_state(const Settings& settings, CheckReport& report) {
  std::error_code error;
  if (!keep_state(settings.stages) || !std::filesystem::is_directory(settings.state.path, error)) return;
  const StateMemory memory{StateMemoryConfig{}};
  Status refused;
  std::string used;
  for (uint32_t p = 0; p < settings.topics.partitions; ++p) {
    const std::string path = window_folder(settings, PartitionId(static_cast<int32_t>(p)));
    if (!std::filesystem::exists(path + "/CURRENT")) continue;
    const auto store = RocksWindowStore::open_for_reading({path, settings.topics.partitions}, memory);
    // Damaged state is no error: the window stage deletes it and reads the log.
    if (store.code() == Code::kInvalid && refused.ok()) refused = store.status();
    if (used.empty() && writer_of(path) != 0) used = path;
  }
  report.passes("state", std::move(refused).with_context("state.path is " + settings.state.path));
  if (!used.empty()) tell_writer("state.path", used, report);
}

}  // namespace bloomring::cli
