#include <algorithm>

#include "base/metrics/metrics.h"
#include "base/words.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "pipeline/metrics/all_metrics.h"
#include "pipeline/settings/keys/all_keys.h"
#include "pipeline/stages/topology.h"
#include "pipeline/topics/topic_check.h"

namespace bloomring::cli {
namespace {

constexpr const char* kConfigHead =
    "# Configuration\n\n"
    "Made by `bloomring reference config` from the declarations; do not edit.\n\n"
    "One YAML file, given by `--config`. Each key has an environment variable, and `--set KEY=VALUE` sets it on the "
    "command line. A flag overrides the environment, the environment the file, and the file the defaults. An unknown "
    "key is an error. In the environment a list is written `a,b` and a map `{name: value}`. Maps merge entry by entry "
    "over these sources; `{}` clears the entries of the weaker ones. `bloomring check --print` shows the configuration "
    "in force and the origin of each value.\n\n";

constexpr const char* kMetricsHead =
    "# Metrics\n\n"
    "Made by `bloomring reference metrics` from the declarations; do not edit.\n\n"
    "`/metrics` on the admin port (`admin.listen`), in the Prometheus text format. A label with a closed list of "
    "values shows them. An absent series means unknown, not zero. Histograms have the usual `_bucket`, `_sum` and "
    "`_count`.\n\n";

constexpr const char* kTopicsHead =
    "# Topics\n\n"
    "Made by `bloomring reference topics` from the tables of topics and stages with default settings; do not edit.\n\n"
    "`bloomring topics --config F --execute` creates the missing topics. It creates topics of plays only with "
    "`--create-plays`, since your producers fill them.\n\n"
    "| topic | key | content | written by | read by | partitions | replication | settings |\n"
    "|---|---|---|---|---|---|---|---|\n";

// The stages that have the role in this member of their rows.
std::string stages_with(std::vector<TopicRole> StageRow::*roles, TopicRole role) {
  std::vector<std::string_view> names;
  for (const StageRow& row : topology()) {
    if (std::ranges::find(row.*roles, role) != (row.*roles).end()) names.push_back(row.name);
  }
  return joined(names);
}

std::string topics_reference() {
  std::string page;
  for (const TopicSpec& topic : topics_of(Settings{})) {
    std::string settings;
    for (const auto& [key, value] : topic.settings)
      settings += (settings.empty() ? "`" : ", `") + key + "=" + value + "`";
    const TopicRole role = topic.row->role;
    const std::string writers = topic.of_the_site() ? "your producers" : stages_with(&StageRow::writes, role);
    page += "| `" + topic.name + "` | `" + std::string(topic.row->key) + "` | " + std::string(topic.row->content) +
            " | " + writers + " | " + stages_with(&StageRow::reads, role) + " | " + std::to_string(topic.partitions) +
            (topic.partitions_fixed() ? ", fixed" : "") + " | " + std::to_string(topic.replication) + " | " + settings +
            " |\n";
  }
  return page;
}

std::vector<std::string_view> stage_names() {
  std::vector<std::string_view> names;
  for (const StageRow& row : topology()) names.push_back(row.name);
  return names;
}

}  // namespace

int reference_command(const ReferenceArgs& args) {
  switch (args.what) {
    case ReferencePage::kCommands: print(args.commands()); return 0;
    case ReferencePage::kConfig: print(kConfigHead + settings_reference(topology())); return 0;
    case ReferencePage::kMetrics: print(kMetricsHead + metrics_reference(metric::all(), stage_names())); return 0;
    case ReferencePage::kTopics: print(kTopicsHead + topics_reference()); return 0;
  }
  return 1;
}

}  // namespace bloomring::cli
