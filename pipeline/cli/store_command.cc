#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/log.h"
#include "pipeline/admin_client.h"
#include "pipeline/backup_json.h"
#include "pipeline/cli/commands.h"
#include "pipeline/cli/output.h"
#include "state/store_backup.h"

namespace bloomring::cli {

namespace {

using Json = nlohmann::ordered_json;

// What the words of the command work on.
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

 private:
  StoreTool(const StoreArgs& args, const Settings& settings, Calendar calendar)
      : args_(args), settings_(settings), calendar_(std::move(calendar)) {
    config_.path = settings.store.path;
    config_.policy = {settings.filter.false_positive_rate, settings.filter.periods_read,
                      settings.filter.dense_from_items};
    config_.partition_count = settings.topics.partitions;
  }

  Status store_exists() const {
    if (std::filesystem::exists(config_.path)) return {};
    return invalid("store.path " + config_.path + " does not exist");
  }
  Result<std::string> backups() const {
    if (!settings_.store.backup_path.empty()) return settings_.store.backup_path;
    return invalid(
        "store.backup_path is not set: name the folder of the backups there, on another disk than the store's");
  }
  Result<Json> ask_the_process();
  Json to_json(const StoreCheck& found) const;

  const StoreArgs& args_;
  const Settings& settings_;
  const Calendar calendar_;
  const SystemClock clock_;
  const StateMemory memory_{StateMemoryConfig{}};
  EmbeddedFilterStoreConfig config_;
};

// A process that writes the store has it for itself, so that one takes the backup; without one it is taken here.
Result<Json> StoreTool::backup() {
  BLOOMRING_TRY_ASSIGN(const std::string folder, backups());
  BLOOMRING_TRY(store_exists());
  auto store = EmbeddedFilterStore::open(config_, calendar_, clock_, memory_);
  if (!store.ok()) return store.code() == Code::kInvalid ? ask_the_process() : Result<Json>(store.status());
  BLOOMRING_TRY_ASSIGN(const StoreBackup taken, (*store)->back_up({folder, settings_.store.backups_kept,
                                                                   settings_.store.backup_bytes_per_second}));
  return Json::parse(backup_json(taken));
}

Result<Json> StoreTool::ask_the_process() {
  const std::string address = args_.admin.empty() ? settings_.admin.listen : args_.admin;
  auto answer = post_admin_action(address, "/store/backup");
  if (!answer.ok()) {
    return std::move(answer).status().with_context(
        "the store is in use, and the process that writes it is to be asked at its admin "
        "port (--admin HOST:PORT)");
  }
  if (answer->status != 200) return fatal("the process that writes the store says: " + answer->body);
  return Json::parse(answer->body);
}

Result<Json> StoreTool::list() {
  BLOOMRING_TRY_ASSIGN(const std::string folder, backups());
  BLOOMRING_TRY_ASSIGN(const std::vector<StoreBackup> found, list_backups(folder));
  Json list = Json::array();
  for (const StoreBackup& one : found) list.push_back(Json::parse(backup_json(one)));
  return Json{{"folder", folder}, {"backups", list}};
}

Result<Json> StoreTool::restore() {
  BLOOMRING_TRY_ASSIGN(const std::string folder, backups());
  BLOOMRING_TRY_ASSIGN(const StoreBackup restored, restore_backup(folder, args_.backup, config_.path));
  BLOOMRING_TRY_ASSIGN(const StoreCheck found, check_store(config_, calendar_, clock_, memory_));
  Json json = Json::parse(backup_json(restored));
  json.update(to_json(found));
  return json;
}

Result<Json> StoreTool::check() {
  const auto progress = [](const StoreCheck& so_far) {
    log_info("checking", {{"filters", so_far.filters}, {"damaged", so_far.damaged}});
  };
  if (args_.of_backup) {
    BLOOMRING_TRY_ASSIGN(const std::string folder, backups());
    BLOOMRING_TRY_ASSIGN(const StoreCheck found,
                         check_backup(folder, args_.backup, config_, calendar_, clock_, memory_, progress));
    return to_json(found);
  }
  BLOOMRING_TRY(store_exists());
  BLOOMRING_TRY_ASSIGN(const StoreCheck found, check_store(config_, calendar_, clock_, memory_, progress));
  return to_json(found);
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
  BLOOMRING_TRY(store_exists());
  BLOOMRING_TRY_ASSIGN(const StoreCheck found, check_store(config_, calendar_, clock_, memory_));
  Json json = {
      {"executed", args_.execute}, {"filters_kept", found.filters}, {"watermarks_forgotten", found.watermarks.size()}};
  if (!args_.execute) return json;
  BLOOMRING_TRY_ASSIGN(const auto store, EmbeddedFilterStore::open(config_, calendar_, clock_, memory_));
  BLOOMRING_TRY(store->forget_watermarks());
  // The window stage's local state belongs to the old log, and is read from the new one.
  std::error_code error;
  std::filesystem::remove_all(settings_.state.path, error);
  if (error) return fatal("state.path " + settings_.state.path + " cannot be removed: " + error.message());
  return json;
}

Result<Json> work(const StoreArgs& args, const Settings& settings) {
  BLOOMRING_TRY_ASSIGN(const std::unique_ptr<StoreTool> tool, StoreTool::make(args, settings));
  switch (args.what) {
    case StoreWhat::kBackup: return tool->backup();
    case StoreWhat::kList: return tool->list();
    case StoreWhat::kRestore: return tool->restore();
    case StoreWhat::kCheck: return tool->check();
    case StoreWhat::kNewLog: return tool->new_log();
  }
  return invalid("nothing to do");
}

}  // namespace

int store_command(const StoreArgs& args) {
  const auto settings = load_command_settings(args.config);
  if (!settings.ok()) return report(settings.status());
  const auto done = work(args, *settings);
  if (!done.ok()) return report(done.status());
  print(done->dump(args.output == OutputFormat::kText ? 2 : -1) + "\n");
  if (done->contains("sound") && !(*done)["sound"].get<bool>())
    return report(corrupt("the store is damaged; what is wrong is in the result"));
  return finish_output(0);
}

}  // namespace bloomring::cli
