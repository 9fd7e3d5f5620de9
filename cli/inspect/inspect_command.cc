#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/config/nearest.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/words.h"
#include "cli/calls/json_text.h"
#include "cli/commands.h"
#include "cli/inspect/erasure_report.h"
#include "cli/inspect/served_lately.h"
#include "cli/output.h"
#include "filter/filter.h"
#include "pipeline/settings/window_folder.h"
#include "pipeline/status/status_json.h"
#include "pipeline/stores/open_stores.h"
#include "schemas/store_key.h"
#include "state/store/embedded/store_backup.h"
#include "state/window/rocks_window_store.h"

namespace bloomring::cli {

namespace {

using Json = nlohmann::ordered_json;

// The state stored on this machine, opened for reading while other processes may write it.
class Inspector {
 public:
  static Result<std::unique_ptr<Inspector>> open(const Settings& settings) {
    BLOOMRING_TRY_ASSIGN(const Calendar calendar, Calendar::create(settings.retention()));
    std::unique_ptr<Inspector> inspector(new Inspector(settings, calendar));
    BLOOMRING_TRY(check_store_folder(settings));
    const StoreParts parts{inspector->calendar_, inspector->clock_, inspector->memory_};
    BLOOMRING_TRY_ASSIGN(inspector->stores_, open_stores(settings, StoreRole::kReads, parts));
    BLOOMRING_TRY(inspector->stores_.reader->refresh());
    return inspector;
  }

  bool is_scene(const std::string& scene) const;
  std::vector<std::string> scenes_there_are(const InspectArgs& args);
  Status check_scene(const InspectArgs& args);
  Result<Json> user(const InspectArgs& args);
  Result<Json> in_scenes(const InspectArgs& args);
  Result<Json> erasure(const InspectArgs& args, const Json& found) const;
  void tell_unknown(const InspectArgs& args, const Json& found);
  std::vector<PeriodIndex> periods() const;
  Status check_period(const std::string& period) const;
  Result<Json> of_scene(const std::string& user, const std::string& scene);
  Result<Json> other_scenes(const InspectArgs& args);
  Result<Json> filter(const InspectArgs& args);
  Result<Json> ring(const InspectArgs& args);
  Result<Json> store();

 private:
  Inspector(const Settings& settings, const Calendar& calendar)
      : settings_(settings), calendar_(calendar), memory_(StateMemoryConfig{}) {}
  Json describe(const StoredFilter& stored, uint64_t hash) const;
  static Json describe(const Forgotten& forgotten);
  Result<RingStatus> ring_of(PartitionId partition);

  const Settings& settings_;
  const Calendar calendar_;
  const SystemClock clock_;
  const StateMemory memory_;
  FilterStores stores_;
};

Json Inspector::describe(const StoredFilter& stored, uint64_t hash) const {
  Json json = {{"period", calendar_.name(stored.period)}, {"bytes", stored.value.size()}};
  json["expires_ms"] = calendar_.expires_at_ms(hash, stored.period);
  const auto summary = filter::summarize(stored.value, stored.store_key);
  json["checksum"] = summary.ok() ? "ok" : "wrong";
  if (!summary.ok()) {
    json["error"] = summary.status().message();
    return json;
  }
  json["form"] = summary->form == filter::Summary::Form::kSparse ? "sparse" : "dense";
  json["items"] = summary->items;
  json["bits_per_item"] = 8.0 * static_cast<double>(stored.value.size()) / static_cast<double>(summary->items);
  json["width_bits"] = summary->width_bits;
  json["sets"] = summary->sets;
  json["expected_error"] = summary->expected_error;
  json["folded"] = summary->folded;
  json["saturated"] = summary->saturated;
  return json;
}

// The parts of filters that do not count.
Json Inspector::describe(const Forgotten& forgotten) {
  Json items = Json::array();
  for (const Forgotten::Item& item : forgotten.items()) {
    Json one = {{"item_hash", item.item.value}, {"until_ms", item.forgotten_ms}};
    if (item.played_ms != 0) one["played_again_ms"] = item.played_ms;
    items.push_back(one);
  }
  Json json = Json::object();
  if (forgotten.everything_ms() != 0) json["everything_until_ms"] = forgotten.everything_ms();
  json["items"] = items;
  return json;
}

// True when a scene that was read has anything of the user.
bool anything_in(const Json& scene) {
  const auto has = [&](const char* key) { return scene.contains(key) && !scene[key].empty(); };
  const bool left_out = scene.contains("left_out") && !scene["left_out"]["items"].empty();
  const bool forgot = scene.contains("forgotten") && (!scene["forgotten"]["items"].empty() ||
                                                      scene["forgotten"].contains("everything_until_ms"));
  return has("filters") || has("recent") || has("served") || forgot || left_out;
}

// The scenes that have anything of the user, except the first.
Result<Json> Inspector::other_scenes(const InspectArgs& args) {
  BLOOMRING_TRY_ASSIGN(std::set<std::string> scenes, stores_.reader->scenes());
  scenes.merge(scenes_lately(args, settings_));  // Scenes without merged plays, too.
  Json found = Json::array();
  for (const std::string& scene : scenes) {
    if (scene == args.scene && is_scene(args.scene)) continue;
    BLOOMRING_TRY_ASSIGN(Json one, of_scene(args.user, scene));
    one.update(served_lately(args, settings_, scene, one["filters"]));
    const bool unasked = !is_scene(scene) && one.contains("service");  // The service refuses calls that name it.
    if (anything_in(one) || unasked) found.push_back(std::move(one));
  }
  return found;
}

// If the site has declared its scenes, "" may not be one.
bool Inspector::is_scene(const std::string& scene) const {
  const std::vector<std::string>& declared = settings_.events.scenes;
  return declared.empty() || std::ranges::find(declared, scene) != declared.end();
}

std::vector<std::string> Inspector::scenes_there_are(const InspectArgs& args) {
  std::set<std::string> scenes = scenes_lately(args, settings_);
  scenes.insert(settings_.events.scenes.begin(), settings_.events.scenes.end());
  if (auto stored = stores_.reader->scenes(); stored.ok()) scenes.merge(*stored);
  return {scenes.begin(), scenes.end()};
}

Status Inspector::check_scene(const InspectArgs& args) {
  if (args.scene.empty()) return {};
  if (settings_.events.scene.empty()) {
    return invalid("--scene is " + args.scene +
                   ": events.scene is \"\", so scenes do not part filters and there is one for all; leave --scene out");
  }
  const std::vector<std::string> there = scenes_there_are(args);
  if (std::ranges::find(there, args.scene) != there.end()) return {};
  const std::string nearest = nearest_name(args.scene, there);
  return invalid("--scene is " + args.scene + ": nothing is known of this scene; " +
                 (nearest.empty() ? "" : "did you mean " + nearest + "? ") +
                 (there.empty() ? "there is none yet" : "there are " + joined_names(there)));
}

Result<Json> Inspector::user(const InspectArgs& args) {
  if (args.user.empty()) return invalid("inspect user needs --user");
  BLOOMRING_TRY(check_scene(args));
  BLOOMRING_TRY_ASSIGN(Json json, in_scenes(args));
  if (args.erasure) {
    BLOOMRING_TRY_ASSIGN(json["erasure"], erasure(args, json));
  }
  const bool known = anything_in(json) || (json.contains("other_scenes") && !json["other_scenes"].empty());
  if (!known) tell_unknown(args, json);
  return json;
}

Result<Json> Inspector::in_scenes(const InspectArgs& args) {
  Json json = {{"user", args.user}};
  const bool first = is_scene(args.scene);
  if (first) {
    BLOOMRING_TRY_ASSIGN(const Json here, of_scene(args.user, args.scene));
    json.update(here);
    json.update(served_lately(args, settings_, args.scene, json["filters"]));
  }
  if (!args.all_scenes || settings_.events.scene.empty()) return json;
  BLOOMRING_TRY_ASSIGN(Json others, other_scenes(args));
  const bool asked = !json.contains("service");  // Otherwise unmerged scenes are unknown.
  if (asked || !others.empty()) json["other_scenes"] = std::move(others);
  return json;
}

Result<Json> Inspector::erasure(const InspectArgs& args, const Json& found) const {
  ErasureFacts facts{args.user, {}, {}, {}};
  if (found.contains("filters")) facts.scenes.push_back(found);
  for (const Json& scene : found.value("other_scenes", Json::array())) {
    if (scene.contains("filters")) facts.scenes.push_back(scene);
  }
  for (const Json& scene : facts.scenes) {
    const ShardId shard(scene["shard"].get<uint16_t>());
    BLOOMRING_TRY_ASSIGN(const std::optional<int64_t> since_ms, stores_.admin->deleted_since_ms(shard));
    if (since_ms) facts.deleted_since_ms = std::min(facts.deleted_since_ms.value_or(*since_ms), *since_ms);
  }
  const std::string& folder = settings_.store.backup_path;
  if (!folder.empty() && std::filesystem::is_directory(folder)) {
    BLOOMRING_TRY_ASSIGN(facts.backups, list_backups(folder));
  }
  return erasure_report(settings_, calendar_, facts);
}

// Says so when nothing is known of the user; otherwise it would look like a service that was not asked.
void Inspector::tell_unknown(const InspectArgs& args, const Json& found) {
  const std::string where = args.all_scenes ? "" : args.scene.empty() ? " without a scene" : " in scene " + args.scene;
  const bool asked = found.contains("recent") || !scenes_lately(args, settings_).empty();
  log_warning("nothing is known of user " + args.user + where +
              (asked ? ": no filter, no recent play, nothing served, nothing forgotten"
                     : " in the filter store; the service was not asked, and may know of recent plays (--server)"));
}

// The periods of which filters may be kept, newest first.
std::vector<PeriodIndex> Inspector::periods() const {
  std::vector<PeriodIndex> all;
  const PeriodIndex newest = calendar_.window(clock_.now_ms()).front();
  for (uint32_t back = 0; back <= settings_.filter.retention_periods + 1; ++back)
    all.emplace_back(newest.value - static_cast<int32_t>(back));
  return all;
}

Status Inspector::check_period(const std::string& period) const {
  const std::vector<PeriodIndex> all = periods();
  if (period.empty() || std::ranges::any_of(all, [&](PeriodIndex one) { return calendar_.name(one) == period; }))
    return {};
  return invalid("--period is " + period + ": no filters are kept of it; name one from " + calendar_.name(all.back()) +
                 " to " + calendar_.name(all.front()));
}

Result<Json> Inspector::of_scene(const std::string& user, const std::string& scene) {
  const UserKey key(scene, user);
  const uint64_t hash = user_hash(key.bytes());
  const ShardId shard = shard_of_hash(hash);
  const PartitionId partition = partition_of(shard, settings_.topics.partitions);
  BLOOMRING_TRY_ASSIGN(const StoredUser stored, read_now(*stores_.reader, key.bytes(), periods()));
  Json filters = Json::array();
  for (const StoredFilter& one : stored.filters) filters.push_back(describe(one, hash));
  return Json{{"scene", scene},
              {"user_hash", user_hash_text(key.bytes())},
              {"shard", shard.value},
              {"partition", partition.value},
              {"filters", filters},
              {"forgotten", describe(stored.forgotten)}};
}

Result<Json> Inspector::filter(const InspectArgs& args) {
  if (args.user.empty()) return invalid("inspect filter needs --user");
  BLOOMRING_TRY(check_scene(args));
  BLOOMRING_TRY(check_period(args.period));
  BLOOMRING_TRY_ASSIGN(const Json all, of_scene(args.user, args.scene));
  if (args.period.empty()) return all["filters"];
  for (const Json& one : all["filters"]) {
    if (one["period"] == args.period) return one;
  }
  return invalid("user " + args.user + (args.scene.empty() ? " without a scene" : " in scene " + args.scene) +
                 " has no filter of period " + args.period + "; `bloomring inspect user` lists the filters");
}

Result<RingStatus> Inspector::ring_of(PartitionId partition) {
  BLOOMRING_TRY_ASSIGN(const std::optional<MergedWatermark> watermark, stores_.reader->read_watermark(partition));
  const RingConfig config{settings_.ring.slots, settings_.ring.slot_ms()};
  const std::optional<Offset> merged = watermark ? std::optional(watermark->offset) : std::nullopt;
  const std::string path = window_folder(settings_, partition);
  if (!std::filesystem::exists(path)) return ring_status(config, std::nullopt, merged);
  BLOOMRING_TRY_ASSIGN(const auto store,
                       RocksWindowStore::open_for_reading({path, settings_.topics.partitions}, memory_));
  BLOOMRING_TRY_ASSIGN(const std::optional<WindowState> state, store->load());
  return ring_status(config, state, merged);
}

Result<Json> Inspector::ring(const InspectArgs& args) {
  if (!std::filesystem::is_directory(settings_.state.path)) {
    return invalid("state.path " + settings_.state.path +
                   " is not a folder on this machine; name the state.path of a window process, with its "
                   "configuration or --set state.path=DIR");
  }
  Json partitions = Json::array();
  for (uint32_t p = 0; p < settings_.topics.partitions; ++p) {
    if (args.partition >= 0 && static_cast<uint32_t>(args.partition) != p) continue;
    BLOOMRING_TRY_ASSIGN(const RingStatus status, ring_of(PartitionId(static_cast<int32_t>(p))));
    Json one = {{"partition", p}};
    one.update(to_json(status));
    partitions.push_back(std::move(one));
  }
  if (partitions.empty())
    return invalid("there is no partition " + std::to_string(args.partition) + ": topics.partitions is " +
                   std::to_string(settings_.topics.partitions));
  Json json = {
      {"slots", settings_.ring.slots}, {"slot_seconds", settings_.ring.slot_seconds}, {"partitions", partitions}};
  if (std::ranges::none_of(partitions, [](const Json& one) { return one.contains("staged"); })) {
    json["hint"] = "state.path " + settings_.state.path +
                   " has no state of these partitions; name the state.path of the window process that holds them, "
                   "with its configuration or --set state.path=DIR";
  }
  return json;
}

Result<Json> Inspector::store() {
  std::map<std::string, StoreStatus::Period> periods;
  StoreStatus::Contents contents;
  BLOOMRING_TRY(stores_.admin->scan([&](const StoredFilter& stored, std::string_view) {
    const std::string name = calendar_.name(stored.period);
    StoreStatus::Period& period = periods.try_emplace(name, StoreStatus::Period{name}).first->second;
    ++period.filters;
    period.bytes += stored.value.size();
    contents.unreadable += !filter::summarize(stored.value, stored.store_key).ok();
    return true;
  }));
  for (auto& [name, period] : periods) contents.periods.push_back(std::move(period));
  return to_json(StoreStatus{store_place(settings_), stores_.admin->stats().bytes_on_disk, std::move(contents)});
}

Result<Json> inspect(const InspectArgs& args, const Settings& settings) {
  BLOOMRING_TRY_ASSIGN(const std::unique_ptr<Inspector> inspector, Inspector::open(settings));
  switch (args.what) {
    case InspectSubject::kUser: return inspector->user(args);
    case InspectSubject::kFilter: return inspector->filter(args);
    case InspectSubject::kRing: return inspector->ring(args);
    case InspectSubject::kStore: return inspector->store();
  }
  return invalid("nothing to inspect");
}

}  // namespace

int inspect_command(const InspectArgs& args) {
  const auto settings = load_command_settings(args.config);
  const bool json = args.output == OutputFormat::kJson;
  if (!settings.ok()) return report_result(settings.status(), json);
  const auto shown = inspect(args, *settings);
  if (!shown.ok()) return report_result(shown.status(), json);
  print(args.output == OutputFormat::kText ? json_text(*shown) : shown->dump() + "\n");
  return finish_output(0);
}

}  // namespace bloomring::cli
