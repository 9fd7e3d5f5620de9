#include "pipeline/status/status_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace bloomring {

namespace {

using Json = nlohmann::ordered_json;

// Of an hour on a slot: only the newest one of a filling slot fills.
SlotState state_of(const SlotStatus& slot, const StagedHour& hour) {
  const bool older = &hour != &slot.hours.back();
  return slot.state == SlotState::kFilling && older ? SlotState::kSealed : slot.state;
}

Json staged_of(const RingStatus& ring) {
  std::vector<Json> hours;
  for (size_t slot = 0; slot < ring.slots.size(); ++slot) {
    for (const StagedHour& hour : ring.slots[slot].hours) {
      hours.push_back({{"slot", slot},
                       {"start_ms", hour.hour.value * ring.slot_ms},
                       {"state", slot_state_name(state_of(ring.slots[slot], hour))},
                       {"from", hour.range.from.value},
                       {"to", hour.range.to.value},
                       {"events", hour.events},
                       {"bytes", hour.bytes}});
    }
  }
  std::ranges::sort(hours, {}, [](const Json& hour) { return hour["start_ms"].get<int64_t>(); });
  return hours;
}

Json to_json(const PartitionStatus& partition) {
  Json json = {{"topic", partition.at.topic}, {"partition", partition.at.partition.value}};
  const auto add = [&](const char* name, Offset offset) {
    if (offset.value >= 0) json[name] = offset.value;
  };
  add("applied", partition.level.applied);
  add("committed", partition.level.committed);
  add("log_end", partition.level.log_end);
  json["behind_seconds"] = partition.behind_seconds;
  if (partition.ring) json["ring"] = to_json(*partition.ring);
  return json;
}

Json to_json(const StageStatus& stage) {
  Json json = {{"stage", stage.stage}};
  if (!stage.address.empty()) json["address"] = stage.address;
  if (!stage.numbers.empty()) json["numbers"] = stage.numbers;
  json["partitions"] = Json::array();
  for (const PartitionStatus& partition : stage.partitions) json["partitions"].push_back(to_json(partition));
  if (stage.store) json["store"] = to_json(*stage.store);
  return json;
}

}  // namespace

std::string to_json(const std::vector<StageStatus>& stages) {
  Json all = Json::array();
  for (const StageStatus& stage : stages) all.push_back(to_json(stage));
  return Json{{"stages", all}}.dump() + "\n";
}

Json to_json(const RingStatus& ring) {
  Json json = {{"merged_offset", ring.merged ? Json(ring.merged->value) : Json(nullptr)}};
  if (!ring.applied) return json;
  json["applied_offset"] = ring.applied->value;
  json["slot_states"] = Json::array();
  for (const SlotStatus& slot : ring.slots) json["slot_states"].push_back(slot_state_name(slot.state));
  json["staged"] = staged_of(ring);
  return json;
}

Json to_json(const StoreStatus& store) {
  Json json = {{"path", store.path}, {"bytes_on_disk", store.bytes_on_disk}};
  if (!store.contents) return json;
  json["unreadable"] = store.contents->unreadable;
  json["periods"] = Json::array();
  for (const StoreStatus::Period& period : store.contents->periods)
    json["periods"].push_back({{"period", period.name}, {"filters", period.filters}, {"bytes", period.bytes}});
  return json;
}

}  // namespace bloomring
