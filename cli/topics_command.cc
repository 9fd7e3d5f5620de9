#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.h"
#include "cli/output.h"
#include "pipeline/settings/client_settings.h"
#include "pipeline/topics/topic_check.h"

namespace bloomring::cli {

namespace {

using Json = nlohmann::ordered_json;

bool creates(const TopicsArgs& args, const TopicFinding& finding) {
  return args.execute && !finding.found.exists && (args.create_plays || !finding.wanted.of_the_site());
}

Json to_json(const TopicFinding& finding, bool created) {
  const TopicSpec& wanted = finding.wanted;
  Json json = {{"topic", wanted.name},
               {"purpose", wanted.row->content},
               {"state", created                ? "created"
                         : finding.found.exists ? "exists"
                                                : "missing"}};
  json["partitions"] = finding.found.exists ? finding.found.partitions : wanted.partitions;
  json["replication"] = finding.found.exists ? finding.found.replication : static_cast<int32_t>(wanted.replication);
  json["settings"] = wanted.settings;
  if (!created && finding.found.exists) json["errors"] = finding.errors;
  if (!created && !finding.found.exists && wanted.of_the_site()) json["errors"] = {finding.missing};
  json["warnings"] = finding.warnings;
  return json;
}

std::string to_text(const Json& topic) {
  std::string text = topic["topic"].get<std::string>() + ": " + topic["state"].get<std::string>() + ", " +
                     topic["partitions"].dump() + " partitions, replication " + topic["replication"].dump() + "\n";
  text += "  " + topic["purpose"].get<std::string>() + "\n";
  for (const auto& [key, value] : topic["settings"].items()) text += "  " + key + "=" + value.get<std::string>() + "\n";
  for (const char* kind : {"errors", "warnings"}) {
    if (!topic.contains(kind)) continue;
    for (const auto& line : topic[kind])
      text += "  " + std::string(kind, 5 + (kind[0] == 'w') * 2) + ": " + line.get<std::string>() + "\n";
  }
  return text;
}

// A name that Kubernetes takes, lower case letters, digits, dots and dashes, which is of no other topic in `taken`.
std::string object_name(const std::string& topic, std::set<std::string>& taken) {
  std::string name;
  for (const char c : topic) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    name += lower == '_' ? '-' : lower;
  }
  const auto is_edge = [](char c) { return c == '-' || c == '.'; };
  while (!name.empty() && is_edge(name.front())) name.erase(0, 1);
  while (!name.empty() && is_edge(name.back())) name.pop_back();
  if (name.empty()) name = "topic";
  const std::string first = name;
  for (size_t next = 2; !taken.insert(name).second; ++next) name = first + "-" + std::to_string(next);
  return name;
}

// A KafkaTopic of Strimzi for each topic of ours. Its label strimzi.io/cluster is the site's to fill in.
std::string as_strimzi(const Settings& settings, bool with_plays) {
  std::string text;
  std::set<std::string> taken;
  for (const TopicSpec& topic : topics_of(settings)) {
    if (topic.of_the_site() && !with_plays) continue;
    text += "---\napiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaTopic\nmetadata:\n  name: " +
            object_name(topic.name, taken) + "\n  labels:\n    strimzi.io/cluster: CLUSTER\nspec:\n  topicName: \"" +
            topic.name + "\"\n  partitions: " + std::to_string(topic.partitions) +
            "\n  replicas: " + std::to_string(topic.replication) +
            (topic.settings.empty() ? "\n  config: {}\n" : "\n  config:\n");
    for (const auto& [key, value] : topic.settings) text += "    " + key + ": " + value + "\n";
  }
  return text;
}

// Returns the exit code.
Result<int> show_and_create(const TopicsArgs& args, const Settings& settings) {
  BLOOMRING_TRY(check_runnable(settings));
  BLOOMRING_TRY_ASSIGN(const std::unique_ptr<kafka::Admin> admin, kafka::Admin::create(client_settings(settings)));
  BLOOMRING_TRY_ASSIGN(const std::vector<TopicFinding> findings, check_topics(*admin, topics_of(settings), settings));
  if (args.execute) BLOOMRING_TRY(create_missing(*admin, findings, args.create_plays));
  Json topics = Json::array();
  std::string text;
  Status wrong;
  bool missing = false, to_create = false;
  for (const TopicFinding& finding : findings) {
    const bool created = creates(args, finding);
    topics.push_back(to_json(finding, created));
    text += to_text(topics.back());
    missing |= !finding.found.exists;
    to_create |= !finding.found.exists && !finding.wanted.of_the_site();
    if (!wrong.ok() || created) continue;
    if (!finding.errors.empty()) wrong = invalid("topic " + finding.wanted.name + ": " + finding.errors.front());
    if (args.execute && !finding.found.exists) wrong = invalid(finding.missing);
  }
  if (to_create && !args.execute) text += "nothing was created; --execute creates what is missing\n";
  print(args.format == TopicsFormat::kJson ? Json{{"executed", args.execute}, {"topics", topics}}.dump() + "\n" : text);
  BLOOMRING_TRY(std::move(wrong));
  return missing && !args.execute ? kFoundWhatMustNotBe : 0;
}

}  // namespace

int topics_command(const TopicsArgs& args) {
  const auto settings = load_command_settings(args.config);
  if (!settings.ok()) return report(settings.status());
  if (args.format == TopicsFormat::kStrimzi) {
    print(as_strimzi(*settings, args.create_plays));
    return finish_output(0);
  }
  const Result<int> code = show_and_create(args, *settings);
  return finish_output(code.ok() ? *code : report(code.status()));
}

}  // namespace bloomring::cli
