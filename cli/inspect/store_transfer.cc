#include "cli/inspect/store_transfer.h"

#include <utility>

#include "base/clock.h"
#include "base/keyed_sum.h"
#include "base/log.h"
#include "cli/progress_line.h"
#include "pipeline/stores/open_stores.h"
#include "state/store/check_store_meta.h"
#include "state/store/transfer/import_files.h"
#include "state/store/transfer/store_export.h"

namespace bloomring::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kTurnsMax = 5;  // Of an export whose reader lost files to a compaction.

// Shows a pass over files, and counts them into `files`. Borrows both.
TransferProgress each_file(ProgressLine& line, uint64_t& files) {
  return [&](const ExportManifest& manifest) {
    line.show({{"files", ++files}, {"files_known", manifest.files.size()}});
  };
}

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

Result<ExportManifest> verify(const ExportFolder& folder, const StoreMeta& meta) {
  ProgressLine line("verifying");
  uint64_t files = 0;
  return verify_export(folder, meta, each_file(line, files));
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
  ProgressLine line("exporting");
  uint64_t files = 0;
  ExportOptions options;
  options.folder = folder;
  options.now_ms = clock.now_ms();
  options.export_id = random_sum_key().low | 1;
  options.progress = each_file(line, files);
  BLOOMRING_TRY_ASSIGN(const ExportManifest done, export_by_turns(stores, source, options, files));
  return to_json(done, folder);
}

Result<Json> import_from_files(const StoreArgs& args, const Settings& settings) {
  BLOOMRING_TRY_ASSIGN(const std::string path, folder_of(args, "--from"));
  BLOOMRING_TRY_ASSIGN(const Calendar calendar, Calendar::create(settings.retention()));
  const SystemClock clock;
  const StateMemory memory{StateMemoryConfig{}};
  BLOOMRING_TRY_ASSIGN(const ExportFolder folder, ExportFolder::open(path, /*make=*/false));
  BLOOMRING_TRY_ASSIGN(const ExportManifest manifest, verify(folder, store_meta(settings.topics.partitions, calendar)));
  BLOOMRING_TRY(brings_nobody_back(args, settings, manifest, clock.now_ms()));
  Json json = {{"executed", args.execute}, {"store", describe_store_place(settings)}};
  json.update(to_json(manifest, path));
  if (!args.execute) return json;
  BLOOMRING_TRY_ASSIGN(const FilterStores stores, open_stores(settings, StoreRole::kWrites,
                                                              {calendar, clock, memory, manifest.export_id}));
  if (stores.shared) BLOOMRING_TRY(stores.reader->refresh());
  ProgressLine line("importing");
  uint64_t files = 0;
  BLOOMRING_TRY(import_export(folder, manifest, *stores.admin, each_file(line, files)));
  return json;
}

}  // namespace bloomring::cli
