#include "cli/check/check_stores.h"

#include <filesystem>

#include "pipeline/settings/window_folder.h"
#include "pipeline/settings/write_plan.h"
#include "pipeline/stores/open_stores.h"
#include "pipeline/stores/store_probe.h"
#include "state/rocksdb/rocks_lock.h"
#include "state/window/rocks_window_store.h"

namespace bloomring::cli {
namespace {

void tell_writer(const std::string& place, pid_t writer, CheckReport& report) {
  if (writer == 0) return;
  report.warnings.push_back(place + ", in use by process " + std::to_string(writer) +
                            "; a second process of this configuration would be refused while that one runs");
}

void warn_of_files(const std::string& place, const FilterStoreStats& stats, CheckReport& report) {
  if (stats.table_files <= stats.open_files_max / 4 * 3) return;
  report.warnings.push_back(place + ", with " + std::to_string(stats.table_files) +
                            " table files, and a process may have " + std::to_string(stats.open_files_max) +
                            " of them open at once, half of its limit on open files: reads open files again and "
                            "again; raise the limit (LimitNOFILE= of the unit, ulimit -n)");
}

// As a start judges them (Process::check_servers): a process that writes the store refuses what loses filters.
void tell_servers(const std::string& place, const ServerFindings& servers, bool writes, CheckReport& report) {
  for (const std::string& refusal : servers.refusals) {
    if (writes)
      report.succeeds(invalid(place + ": " + refusal));
    else
      report.warnings.push_back(place + ": " + refusal);
  }
  for (const std::string& warning : servers.warnings) report.warnings.push_back(place + ": " + warning);
  for (const std::string& unknown : servers.unknown) report.notes.push_back(place + ": " + unknown);
}

}  // namespace

void check_writes(const Settings& settings, CheckReport& report) {
  const WritePlan plan = plan_writes(settings);
  if (plan.arithmetic.empty()) return;
  (plan.fits ? report.notes : report.warnings).push_back(plan.arithmetic);
}

void check_store(const Settings& settings, CheckReport& report) {
  const StoreRole role = store_role(settings.stages);
  if (role == StoreRole::kNone) return;
  const std::string place = describe_store_place(settings);
  const StoreProbe probe = probe_store(settings);
  tell_servers(place, probe.servers, role == StoreRole::kWrites, report);
  if (!probe.made) {
    report.warnings.push_back(place + ", where no filter store is yet; the merge stage makes it");
    return;
  }
  report.passes("store", Status(probe.refused).with_context(place));
  warn_of_files(place, probe.stats, report);
  if (role == StoreRole::kWrites) tell_writer(place, probe.writer, report);
}

void check_state(const Settings& settings, CheckReport& report) {
  std::error_code error;
  if (!keep_state(settings.stages) || !std::filesystem::is_directory(settings.state.path, error)) return;
  const StateMemory memory{StateMemoryConfig{}};
  Status refused;
  std::string used;
  pid_t writer = 0;
  for (uint32_t p = 0; p < settings.topics.partitions; ++p) {
    const std::string path = window_folder(settings, PartitionId(static_cast<int32_t>(p)));
    if (!std::filesystem::exists(path + "/CURRENT")) continue;
    const auto store = RocksWindowStore::open_for_reading({path, settings.topics.partitions}, memory);
    // Damaged state is no error: the window stage deletes it and reads the log.
    if (store.code() == Code::kInvalid && refused.ok()) refused = store.status();
    if (writer != 0) continue;
    writer = rocks_writer(path);
    used = path;
  }
  report.passes("state", std::move(refused).with_context("state.path is " + settings.state.path));
  tell_writer("state.path is " + used, writer, report);
}

}  // namespace bloomring::cli
