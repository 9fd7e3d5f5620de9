#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "cli/calls/json_text.h"
#include "cli/commands.h"
#include "cli/inspect/store_transfer.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "pipeline/admin/admin_client.h"
#include "pipeline/admin/admin_token.h"
#include "pipeline/admin/backup_json.h"
#include "pipeline/kafka/consumer/assigned_consumer.h"
#include "pipeline/settings/client_settings.h"
#include "pipeline/settings/process_identity.h"
#include "pipeline/settings/window_folder.h"
#include "pipeline/stores/open_stores.h"
#include "pipeline/topics/new_log.h"
#include "state/slot_length.h"
#include "state/store/embedded/store_backup.h"

namespace bloomring::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kNoSuchAction = 404;

// " (instance host-1, stages ingest,serve)"; empty if the process does not answer.
std::string process_named(const std::string& admin) {
  const auto page = get_admin_page(admin, "/version");
  if (!page.ok()) return "";
  const auto process = parse_identity(*page);
  return process.ok() ? " (" + process->to_string() + ")" : "";
}

// Carries out the subcommands.
class StoreTool {
 public:
  static Result<std::unique_ptr<StoreTool>> make(const StoreArgs& args, const Settings& settings) {
    BLOOMRING_TRY_ASSIGN(Calendar calendar, Calendar::create(settings.retention()));
    return std::unique_ptr<StoreTool>(new StoreTool(args, settings, std::move(calendar)));
  }

  Result<Json> backup();
  Result<Json> list();
  Result<Json> restore();
  Result<Json> check();
  Result<Json> new_log();
  Result<Json> slot_length();

 private:
  StoreTool(const StoreArgs& args, const Settings& settings, Calendar calendar)
      : args_(args), settings_(settings), calendar_(std::move(calendar)), config_(embedded_store_config(settings)) {}

  Result<FilterStores> open_to_write() const {
    BLOOMRING_TRY_ASSIGN(FilterStores stores,
                         open_stores(settings_, StoreRole::kWrites, {calendar_, clock_, memory_}));
    if (stores.shared) BLOOMRING_TRY(stores.reader->refresh());
    return stores;
  }
  Result<StoreCheck> check_all(const StoreCheckProgress& progress = {}) const;

  Result<Json> ask_the_process();
  Status brings_nobody_back(const std::string& folder) const;
  Result<std::vector<Offset>> log_ends() const;
  Json to_json(const StoreCheck& found) const;

  const StoreArgs& args_;
  const Settings& settings_;
  const Calendar calendar_;
  const SystemClock clock_;
  const StateMemory memory_{StateMemoryConfig{}};
  const EmbeddedFilterStoreConfig config_;
};

// A process that writes the store holds its lock, so that process takes the backup; without one this process does.
Result<Json> StoreTool::backup() {
  BLOOMRING_TRY_ASSIGN(const std::string folder, backup_folder(settings_));
  BLOOMRING_TRY(check_store_folder(settings_));
  const auto stores = open_to_write();
  if (!stores.ok()) return stores.code() == Code::kInvalid ? ask_the_process() : Result<Json>(stores.status());
  BLOOMRING_TRY_ASSIGN(const StoreBackup taken, stores->admin->back_up({folder, settings_.store.backups_kept,
                                                                        settings_.store.backup_bytes_per_second}));
  return Json::parse(backup_json(taken));
}

Result<Json> StoreTool::ask_the_process() {
  const std::string address = args_.admin.empty() ? settings_.admin.listen : args_.admin;
  const std::string token_path = admin_token_path(settings_.admin.token_file, settings_.store.path);
  const auto token = read_admin_token(token_path);
  if (!token.ok()) {
    return token.status().with_context(
        "the store is in use, and the process that writes it asks for the token of its admin port (admin.token_file)");
  }
  auto answer = post_admin_action(address, "/store/backup", *token);
  if (!answer.ok()) {
    return std::move(answer).status().with_context(
        "the store is in use; ask the process that writes it at its admin port (--admin HOST:PORT, its admin.listen)");
  }
  const std::string who = "the process at " + address + process_named(address);
  if (answer->status == kNoSuchAction) {
    return invalid(who + " does not write the filter store; the process with the merge stage writes it and takes "
                   "the backup: name its admin port (its admin.listen) with --admin HOST:PORT");
  }
  if (answer->status != 200) return fatal(who + ", which writes the store, says: " + answer->body);
  return Json::parse(answer->body);
}

Result<Json> StoreTool::list() {
  BLOOMRING_TRY_ASSIGN(const std::string folder, backup_folder(settings_));
  BLOOMRING_TRY_ASSIGN(const std::vector<StoreBackup> found, list_backups(folder));
  Json list = Json::array();
  for (const StoreBackup& one : found) list.push_back(Json::parse(backup_json(one)));
  return Json{{"folder", folder}, {"backups", list}};
}

// A restored store meets the forgets since the backup only where user-events still has them. Users forget with and
// without a deadline for their bytes (store.erase_within_seconds).
Status StoreTool::brings_nobody_back(const std::string& folder) const {
  if (args_.accept_erased) return {};
  BLOOMRING_TRY_ASSIGN(const std::vector<StoreBackup> found, list_backups(folder));
  const auto chosen = args_.backup == 0 ? found.end() - !found.empty()
                                        : std::ranges::find(found, args_.backup, &StoreBackup::id);
  if (chosen == found.end()) return {};  // The restore says so.
  const int64_t hours = (clock_.now_ms() - chosen->time_ms) / 3'600'000;
  if (hours < settings_.topics.retention_hours) return {};
  return invalid("backup " + std::to_string(chosen->id) + " is " + std::to_string(hours) + " hours old, and " +
                 settings_.topics.name(TopicRole::kUserEvents) +
                 " keeps what was forgotten since for topics.retention_hours = " +
                 std::to_string(settings_.topics.retention_hours) +
                 ": users who were erased since would be back. Take a newer backup, or accept that with "
                 "--accept-erased, and erase these users again");
}

Result<Json> StoreTool::restore() {
  BLOOMRING_TRY_ASSIGN(const std::string folder, backup_folder(settings_));
  BLOOMRING_TRY(brings_nobody_back(folder));
  BLOOMRING_TRY_ASSIGN(const StoreBackup restored, restore_backup(folder, args_.backup, config_.path));
  BLOOMRING_TRY_ASSIGN(const StoreCheck found, check_store(config_, calendar_, clock_, memory_));
  Json json = Json::parse(backup_json(restored));
  json.update(to_json(found));
  return json;
}

Result<Json> StoreTool::check() {
  ProgressLine line("checking");
  const auto progress = [&line](const StoreCheck& so_far) {
    line.show({{"filters", so_far.filters}, {"damaged", so_far.damaged}});
  };
  if (args_.of_backup) {
    BLOOMRING_TRY_ASSIGN(const std::string folder, backup_folder(settings_));
    BLOOMRING_TRY_ASSIGN(const StoreCheck found,
                         check_backup(folder, args_.backup, config_, calendar_, clock_, memory_, progress));
    return to_json(found);
  }
  BLOOMRING_TRY(check_store_folder(settings_));
  BLOOMRING_TRY_ASSIGN(const StoreCheck found, check_all(progress));
  return to_json(found);
}

// Of the store itself. Without a refresh, which a damaged store refuses.
Result<StoreCheck> StoreTool::check_all(const StoreCheckProgress& progress) const {
  BLOOMRING_TRY_ASSIGN(const FilterStores stores,
                       open_stores(settings_, StoreRole::kReads, {calendar_, clock_, memory_}));
  return stores.admin->check(progress);
}

Json StoreTool::to_json(const StoreCheck& found) const {
  Json json = {{"sound", found.sound()},
               {"filters", found.filters},
               {"filter_bytes", found.filter_bytes},
               {"items", found.items}};
  json["damaged"] = found.damaged;
  if (!found.damages.empty()) json["damages"] = found.damages;
  json["merged_below"] = Json::object();
  for (const auto& [partition, watermark] : found.watermarks) {
    json["merged_below"][std::to_string(partition.value)] = watermark.offset.value;
  }
  return json;
}

Result<Json> StoreTool::new_log() {
  BLOOMRING_TRY(check_store_folder(settings_));
  BLOOMRING_TRY_ASSIGN(const StoreCheck found, check_all());
  Json json = {
      {"executed", args_.execute}, {"filters_kept", found.filters}, {"watermarks_forgotten", found.watermarks.size()}};
  if (!args_.execute) {
    BLOOMRING_TRY_ASSIGN(json["batches_unread"], count_unread_batches(settings_, clock_));
    return json;
  }
  BLOOMRING_TRY_ASSIGN(const FilterStores stores, open_to_write());
  BLOOMRING_TRY_ASSIGN(const OldLogCounts merged, end_old_log(settings_, calendar_, stores, clock_));
  json["batches_merged"] = merged.records;
  json["plays_merged"] = merged.plays;
  if (merged.refused > 0) json["batches_refused"] = merged.refused;
  BLOOMRING_TRY(remove_window_folders(settings_));
  return json;
}

// The log ends of user-events, by partition.
Result<std::vector<Offset>> StoreTool::log_ends() const {
  BLOOMRING_TRY_ASSIGN(const auto consumer, kafka::AssignedConsumer::create(client_settings(settings_), 1, clock_));
  std::vector<kafka::TopicPartition> partitions;
  for (uint32_t p = 0; p < settings_.topics.partitions; ++p)
    partitions.push_back({settings_.topics.name(TopicRole::kUserEvents), PartitionId(static_cast<int32_t>(p))});
  BLOOMRING_TRY_ASSIGN(const std::vector<kafka::PartitionFacts> facts, consumer->facts(partitions));
  std::vector<Offset> ends;
  for (const kafka::PartitionFacts& of_one : facts) ends.push_back(of_one.log_end);
  return ends;
}

Result<Json> StoreTool::slot_length() {
  BLOOMRING_TRY(check_store_folder(settings_));
  BLOOMRING_TRY_ASSIGN(const std::vector<Offset> ends, log_ends());
  BLOOMRING_TRY_ASSIGN(const FilterStores stores, open_to_write());
  std::map<PartitionId, MergedWatermark> changed;
  for (size_t p = 0; p < ends.size(); ++p) {
    const PartitionId partition(static_cast<int32_t>(p));
    BLOOMRING_TRY_ASSIGN(const auto stored, stores.reader->read_watermark(partition));
    if (!stored && ends[p] == Offset(0)) continue;  // Nothing was ever written.
    auto with_length =
        with_slot_length(stored.value_or(MergedWatermark{}), settings_.ring.slot_ms(), ends[p]);
    if (!with_length.ok())
      return std::move(with_length)
          .status()
          .with_context(kafka::to_string({settings_.topics.name(TopicRole::kUserEvents), partition}));
    if (*with_length != *stored) changed[partition] = std::move(*with_length);
  }
  Json json = {{"executed", args_.execute},
               {"slot_seconds", settings_.ring.slot_seconds},
               {"partitions_changed", changed.size()}};
  if (!args_.execute) return json;
  for (const auto& [partition, watermark] : changed) {
    BLOOMRING_TRY_ASSIGN(const auto writer, stores.writer->take_over(partition));
    BLOOMRING_TRY(advance_now(*writer, watermark));
  }
  return json;
}

Result<Json> work(const StoreArgs& args, const Settings& settings) {
  BLOOMRING_TRY_ASSIGN(const std::unique_ptr<StoreTool> tool, StoreTool::make(args, settings));
  switch (args.what) {
    case StoreAction::kBackup: return tool->backup();
    case StoreAction::kList: return tool->list();
    case StoreAction::kRestore: return tool->restore();
    case StoreAction::kCheck: return tool->check();
    case StoreAction::kNewLog: return tool->new_log();
    case StoreAction::kSlotLength: return tool->slot_length();
    case StoreAction::kExport: return export_to_files(args, settings);
    case StoreAction::kImport: return import_from_files(args, settings);
  }
  return invalid("nothing to do");
}

}  // namespace

int store_command(const StoreArgs& args) {
  const auto settings = load_command_settings(args.config);
  const bool json = args.output == OutputFormat::kJson;
  if (!settings.ok()) return report_result(settings.status(), json);
  const auto done = work(args, *settings);
  if (!done.ok()) return report_result(done.status(), json);
  print(args.output == OutputFormat::kText ? json_text(*done) : done->dump() + "\n");
  if (done->contains("sound") && !(*done)["sound"].get<bool>())
    return report(corrupt("the store is damaged; the result lists the damage"));
  return finish_output(0);
}

}  // namespace bloomring::cli
