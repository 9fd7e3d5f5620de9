#include <nlohmann/json.hpp>

#include "base/words.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "pipeline/stages/topology.h"

namespace bloomring::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string_view> names_of(const std::vector<TopicRole>& roles) {
  std::vector<std::string_view> names;
  for (const TopicRole role : roles) names.push_back(role.word);
  return names;
}

std::string as_json() {
  Json stages = Json::array();
  for (const StageRow& row : topology()) {
    stages.push_back({{"stage", row.name},
                      {"purpose", row.purpose},
                      {"reads", names_of(row.reads)},
                      {"writes", names_of(row.writes)},
                      {"filter_store", store_role_name(row.store)},
                      {"in_group", row.in_group},
                      {"watches", row.watches},
                      {"local_state", row.keeps_state},
                      {"takes_calls", row.takes_calls}});
  }
  Json topics = Json::array();
  for (const TopicRow& topic : topic_rows())
    topics.push_back({{"topic", topic.role.word}, {"purpose", topic.content}, {"setting", topic.key}});
  return Json{{"stages", stages}, {"topics", topics}}.dump() + "\n";
}

std::string as_text() {
  std::string text;
  for (const StageRow& row : topology()) {
    text += std::string(row.name) + ": " + std::string(row.purpose) + "\n";
    text += "  reads        " + joined(names_of(row.reads)) + "\n";
    text += "  writes       " + joined(names_of(row.writes)) + "\n";
    text += "  filter store " + std::string(store_role_name(row.store)) + "\n";
    if (row.in_group) text += "  group        <kafka.group_prefix>-" + std::string(row.name) + "\n";
    if (!row.watches.empty()) text += "  watches      the groups of " + joined(row.watches) + "\n";
    if (row.keeps_state) text += "  local state  under state.path\n";
    if (row.takes_calls) text += "  takes calls  at serve.listen\n";
  }
  return text;
}

// Topics and the store are drawn as cylinders, stages as boxes; a dotted arrow is a read of the store.
std::string as_mermaid() {
  std::string text = "flowchart LR\n";
  for (const TopicRow& topic : topic_rows()) {
    const std::string name(topic.role.word);
    text += "  " + name + "[(" + name + ")]\n";
  }
  text += "  store[(filter store)]\n";
  for (const StageRow& row : topology()) {
    const std::string stage(row.name);
    const auto arrow = [&](std::string_view from, std::string_view to) {
      text += "  " + std::string(from) + " --> " + std::string(to) + "\n";
    };
    for (const std::string_view topic : names_of(row.reads)) arrow(topic, stage);
    for (const std::string_view topic : names_of(row.writes)) arrow(stage, topic);
    if (row.store == StoreRole::kWrites) arrow(stage, "store");
    if (row.store == StoreRole::kReads) text += "  store -.-> " + stage + "\n";
    if (row.takes_calls) text += "  " + stage + " <--> recommender((recommender))\n";
  }
  return text;
}

}  // namespace

std::string topology_json() { return as_json(); }

int topology_command(const TopologyArgs& args) {
  switch (args.format) {
    case TopologyFormat::kJson: print(topology_json()); break;
    case TopologyFormat::kText: print(as_text()); break;
    case TopologyFormat::kMermaid: print(as_mermaid()); break;
  }
  return finish_output(0);
}

}  // namespace bloomring::cli
