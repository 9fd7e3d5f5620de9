#include "pipeline/stages/stage.h"

#include <nlohmann/json.hpp>

namespace bloomring {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const PartitionStatus& partition) {
  Json json = {{"topic", partition.at.topic}, {"partition", partition.at.partition.value}};
  const auto add = [&](const char* name, Offset offset) {
    if (offset.value >= 0) json[name] = offset.value;
  };
  add("applied", partition.level.applied);
  add("committed", partition.level.committed);
  add("log_end", partition.level.log_end);
  json["behind_seconds"] = partition.behind_seconds;
  return json;
}

}  // namespace

std::string to_json(const std::vector<StageStatus>& stages) {
  Json all = Json::array();
  for (const StageStatus& stage : stages) {
    Json json = {{"stage", stage.stage}};
    if (!stage.address.empty()) json["address"] = stage.address;
    if (!stage.numbers.empty()) json["numbers"] = stage.numbers;
    json["partitions"] = Json::array();
    for (const PartitionStatus& partition : stage.partitions) json["partitions"].push_back(to_json(partition));
    all.push_back(std::move(json));
  }
  return Json{{"stages", all}}.dump() + "\n";
}

}  // namespace bloomring
