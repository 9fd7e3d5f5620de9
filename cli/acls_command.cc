#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "pipeline/topics/kafka_rights.h"

namespace bloomring::cli {

namespace {

using Json = nlohmann::ordered_json;

// One user for each stage, and one for jobs.
struct KafkaUser {
  std::string_view of;  // The stage, or "jobs".
  std::string name;
  std::vector<KafkaRight> rights;
};

std::vector<KafkaUser> users_of(const Settings& settings, const std::string& pattern) {
  std::vector<KafkaUser> users;
  for (const StageRow* row : settings.stages)
    users.push_back({row->name, user_of(pattern, row->name), rights_of(*row, settings)});
  users.push_back({kJobs, user_of(pattern, kJobs), rights_of_jobs(settings)});
  return users;
}

std::string as_json(const std::vector<KafkaUser>& users) {
  Json json = {{"stages", Json::array()}};
  for (const KafkaUser& user : users) {
    Json rights = Json::array();
    for (const KafkaRight& right : user.rights) {
      rights.push_back({{"resource", resource_name(right.resource)},
                        {"name", right.name},
                        {"operations", right.operations}});
    }
    if (user.of == kJobs) {
      json[std::string(kJobs)] = {{"user", user.name}, {"rights", rights}};
    } else {
      json["stages"].push_back({{"stage", user.of}, {"user", user.name}, {"rights", rights}});
    }
  }
  return json.dump() + "\n";
}

std::string as_commands(const std::vector<KafkaUser>& users, const Settings& settings) {
  const std::string bootstrap = settings.kafka.bootstrap.empty() ? "HOST:PORT" : settings.kafka.bootstrap;
  std::string text;
  for (const KafkaUser& user : users) {
    for (const KafkaRight& right : user.rights) text += grant_command(bootstrap, "User:" + user.name, right) + "\n";
  }
  return text;
}

// A KafkaUser of Strimzi for each. Its label strimzi.io/cluster is the site's to fill in.
std::string as_strimzi(const std::vector<KafkaUser>& users) {
  std::string text;
  for (const KafkaUser& user : users) {
    text += "---\napiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaUser\nmetadata:\n  name: " + user.name +
            "\n  labels:\n    strimzi.io/cluster: CLUSTER\nspec:\n  authentication:\n    type: tls\n  authorization:\n"
            "    type: simple\n    acls:\n";
    for (const KafkaRight& right : user.rights) {
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
  const std::vector<KafkaUser> users = users_of(*settings, args.user);
  switch (args.format) {
    case AclsFormat::kJson: print(as_json(users)); break;
    case AclsFormat::kCommands: print(as_commands(users, *settings)); break;
    case AclsFormat::kStrimzi: print(as_strimzi(users)); break;
  }
  return finish_output(0);
}

}  // namespace bloomring::cli
