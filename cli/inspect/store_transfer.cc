#include "cli/inspect/store_transfer.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "base/keyed_sum.h"
#include "base/log.h"
#include "pipeline/stores/open_stores.h"
#include "state/store/check_store_meta.h"
#include "state/store/transfer/import_files.h"
#include "state/store/transfer/store_export.h"

namespace bloomring::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kTurnsMax = 5;  // Of an export whose reader lost files to a compaction.

// Shows the progress of a pass over files.
class Progress {
 public:
  explicit Progress(std::string_view doing) : doing_(doing), terminal_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (terminal_ && files_ > 0) std::fputc('\n', stderr);
  }
  void operator()(const ExportManifest& manifest) {
    ++files_;
    if (!terminal_) return log_info(doing_, {{"files", files_}, {"files_known", manifest.files.size()}});
    std::fprintf(stderr, "\r%s: file %lu of %zu", doing_.c_str(), static_cast<unsigned long>(files_),
                 manifest.files.size());
  }
  TransferProgress each() {
    return [this](const ExportManifest& manifest) { (*this)(manifest); };
  }

 private:
  const std::string doing_;
  const bool terminal_;
  uint64_t files_ = 0;
};

Json to_json(const ExportManifest& manifest, const std::string& folder) {
  Json json = {{"folder", folder},
               {"files", manifest.files.size()},
               {"bytes", manifest.bytes()},
               {"filters", manifest.values(ValueKind::kFilter)},
               {"forgotten_values", manifest.values(ValueKind::kForgotten)},
               {"damaged", manifest.damaged()},
               {"partitions", manifest.meta.partition_count},
               {"time_zone", manifest.meta.time_zone},
               {"slot_seconds", manifest.slot_ms / 1000},
               {"begun_ms", manifest.begun_ms}};
  json["merged_below"] = Json::object();
  for (const auto& [partition, watermark] : manifest.watermarks)
    json["merged_below"][std::to_string(partition.value)] = watermark.offset.value;
  return json;
}

Result<std::string> folder_of(const StoreArgs& args, const char* flag) {
  if (!args.folder.empty()) return args.folder;
  return invalid(std::string("name the folder of the files with ") + flag + " DIR");
}

Result<ExportManifest> export_by_turns(const FilterStores& stores, const ExportSource& source,
                                       const ExportOptions& options, const uint64_t& files) {
  for (int turn = 1;; ++turn) {
    const uint64_t before = files;
    auto done = export_store(source, options);
    const bool again = !done.ok() && (done.code() == Code::kFatal || done.code() == Code::kRetry) && files > before;
    if (!again || turn == kTurnsMax) return done;
    log_warning("the export goes on", {{"reason", done.status().message()}});
    BLOOMRING_TRY(stores.reader->refresh());
  }
}

// As of a restored backup: forgets since the export meet the store only where user-events still has them.
Status brings_nobody_back(const StoreArgs& args, const Settings& settings, const ExportManifest& manifest,
                          int64_t now_ms) {
  const int64_t hours = (now_ms - manifest.begun_ms) / 3'600'000;
  if (args.accept_erased || hours < settings.topics.retention_hours) return {};
  return invalid("the export is " + std::to_string(hours) + " hours old, and " +
                 settings.topics.name(TopicRole::kUserEvents) +
                 " keeps what was forgotten since for topics.retention_hours = " +
                 std::to_string(settings.topics.retention_hours) +
                 ": users who were erased since would be back. Take a newer export, or accept that with "
                 "--accept-erased, and erase these users again");
}

}  // namespace

Result<Json> export_to_files(const StoreArgs& args, const Settings& settings) {
  BLOOMRING_TRY_ASSIGN(const std::string folder, folder_of(args, "--to"));
  BLOOMRING_TRY_ASSIGN(const Calendar calendar, Calendar::create(settings.retention()));
  const SystemClock clock;
  const StateMemory memory{StateMemoryConfig{}};
  BLOOMRING_TRY_ASSIGN(const FilterStores stores, open_stores(settings, StoreRole::kReads, {calendar, clock, memory}));
  BLOOMRING_TRY(stores.reader->refresh());
  const ExportSource source{*stores.reader, *stores.admin, store_meta(settings.topics.partitions, calendar),
                            settings.ring.slot_ms()};
  Progress progress("exporting");
  uint64_t files = 0;
  ExportOptions options;
  options.folder = folder;
  options.now_ms = clock.now_ms();
  options.export_id = random_sum_key().low | 1;
  options.progress = [&](const ExportManifest& manifest) {
    ++files;
    progress(manifest);
  };
  BLOOMRING_TRY_ASSIGN(const ExportManifest done, export_by_turns(stores, source, options, files));
  return to_json(done, folder);
}

Result<Json> import_from_files(const StoreArgs& args, const Settings& settings) {
  BLOOMRING_TRY_ASSIGN(const std::string path, folder_of(args, "--from"));
  BLOOMRING_TRY_ASSIGN(const Calendar calendar, Calendar::create(settings.retention()));
  const SystemClock clock;
  const StateMemory memory{StateMemoryConfig{}};
  BLOOMRING_TRY_ASSIGN(const ExportFolder folder, ExportFolder::open(path, /*make=*/false));
  Progress verifying("verifying");
  BLOOMRING_TRY_ASSIGN(const ExportManifest manifest,
                       verify_export(folder, store_meta(settings.topics.partitions, calendar), verifying.each()));
  BLOOMRING_TRY(brings_nobody_back(args, settings, manifest, clock.now_ms()));
  Json json = {{"executed", args.execute}, {"store", describe_store_place(settings)}};
  json.update(to_json(manifest, path));
  if (!args.execute) return json;
  BLOOMRING_TRY_ASSIGN(const FilterStores stores, open_stores(settings, StoreRole::kWrites,
                                                              {calendar, clock, memory, manifest.export_id}));
  if (stores.shared) BLOOMRING_TRY(stores.reader->refresh());
  Progress importing("importing");
  BLOOMRING_TRY(import_export(folder, manifest, *stores.admin, importing.each()));
  return json;
}

}  // namespace bloomring::cli
