#include <nlohmann/json.hpp>

#include "base/words.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "pipeline/topics/kafka_rights.h"

namespace bloomring::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string as_json(const Settings& settings, const std::string& pattern) {
  Json stages = Json::array();
  for (const StageRow* row : settings.stages) {
    Json rights = Json::array();
    for (const KafkaRight& right : rights_of(*row, settings)) {
      rights.push_back({{"resource", resource_name(right.resource)},
                        {"name", right.name},
                        {"operations", right.operations}});
    }
    stages.push_back({{"stage", row->name}, {"user", user_of(pattern, row->name)}, {"rights", rights}});
  }
  return Json{{"stages", stages}}.dump() + "\n";
}

std::string as_commands(const Settings& settings, const std::string& pattern) {
  const std::string bootstrap = settings.kafka.bootstrap.empty() ? "HOST:PORT" : settings.kafka.bootstrap;
  std::string text;
  for (const StageRow* row : settings.stages) {
    for (const KafkaRight& right : rights_of(*row, settings)) {
      text += grant_command(bootstrap, "User:" + user_of(pattern, row->name), right) + "\n";
    }
  }
  return text;
}

// A KafkaUser of Strimzi for each stage. Its label strimzi.io/cluster is the site's to fill in.
std::string as_strimzi(const Settings& settings, const std::string& pattern) {
  std::string text;
  for (const StageRow* row : settings.stages) {
    text += "---\napiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaUser\nmetadata:\n  name: " +
            user_of(pattern, row->name) +
            "\n  labels:\n    strimzi.io/cluster: CLUSTER\nspec:\n  authentication:\n    type: tls\n  authorization:\n"
            "    type: simple\n    acls:\n";
    for (const KafkaRight& right : rights_of(*row, settings)) {
      text += "      - resource: {type: " + std::string(resource_name(right.resource)) + ", name: " + right.name +
              ", patternType: literal}\n        operations: [" + joined(right.operations) + "]\n";
    }
  }
  return text;
}

}  // namespace

int acls_command(const AclsArgs& args) {
  const auto settings = load_command_settings(args.config);
  if (!settings.ok()) return report(settings.status());
  switch (args.format) {
    case AclsFormat::kJson: print(as_json(*settings, args.user)); break;
    case AclsFormat::kCommands: print(as_commands(*settings, args.user)); break;
    case AclsFormat::kStrimzi: print(as_strimzi(*settings, args.user)); break;
  }
  return finish_output(0);
}

}  // namespace bloomring::cli
