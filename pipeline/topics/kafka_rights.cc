#include "pipeline/topics/kafka_rights.h"

#include <algorithm>

#include "pipeline/topics/topic_check.h"

namespace bloomring {

namespace {

bool has(const std::vector<TopicRole>& roles, TopicRole role) { return std::ranges::find(roles, role) != roles.end(); }

}  // namespace

std::string_view resource_name(KafkaResource resource) {
  switch (resource) {
    case KafkaResource::kTopic: return "topic";
    case KafkaResource::kGroup: return "group";
    case KafkaResource::kCluster: break;
  }
  return "cluster";
}

std::string user_of(std::string pattern, std::string_view stage) {
  constexpr std::string_view kStageMark = "{stage}";
  if (const size_t at = pattern.find(kStageMark); at != std::string::npos) {
    pattern.replace(at, kStageMark.size(), stage);
  }
  return pattern;
}

std::vector<KafkaRight> rights_of(const StageRow& stage, const Settings& settings) {
  std::vector<KafkaRight> rights;
  const bool has_canary = settings.canary.on() && stage.takes_calls;
  for (const TopicSpec& topic : topics_of(settings)) {
    const bool canarys = has_canary && topic.of_the_site() && topic.name == settings.topics.plays().front();
    const bool reads = has(stage.reads, topic.row->role), writes = has(stage.writes, topic.row->role) || canarys;
    if (topic.of_the_site() && !reads && !writes) continue;
    KafkaRight right{.resource = KafkaResource::kTopic, .name = topic.name, .operations = {}};
    if (reads) right.operations.push_back("Read");
    if (writes) right.operations.push_back("Write");
    if (!reads && !writes) right.operations.push_back("Describe");  // The others include it.
    if (!topic.of_the_site()) right.operations.push_back("DescribeConfigs");
    rights.push_back(std::move(right));
  }
  const auto group = [&](std::string_view member, const char* operation) {
    rights.push_back({.resource = KafkaResource::kGroup,
                      .name = settings.kafka.group(member),
                      .operations = {operation}});
  };
  if (stage.in_group) group(stage.name, "Read");
  for (const std::string_view other : stage.watches) group(other, "Describe");
  return rights;
}

std::vector<KafkaRight> rights_of_jobs(const Settings& settings) {
  const auto topic = [](std::string name, std::vector<std::string> operations) {
    return KafkaRight{.resource = KafkaResource::kTopic, .name = std::move(name), .operations = std::move(operations)};
  };
  std::vector<KafkaRight> rights;
  for (const TopicSpec& spec : topics_of(settings)) {
    // A record that is put back keeps its time only while its topic keeps it: for that the settings are read.
    if (spec.row->role == TopicRole::kPlays) rights.push_back(topic(spec.name, {"Read", "Write", "DescribeConfigs"}));
    if (spec.row->role == TopicRole::kUserEvents || spec.row->role == TopicRole::kDeadLetters)
      rights.push_back(topic(spec.name, {"Read", "Write"}));
  }
  rights.push_back(topic(settings.kafka.group(kJobs), {"Read", "Write", "Create"}));
  return rights;
}

std::string grant_command(const std::string& bootstrap, const std::string& principal, const KafkaRight& right) {
  std::string text = "kafka-acls.sh --bootstrap-server " + bootstrap + " --add --allow-principal '" + principal + "'";
  for (const std::string& operation : right.operations) text += " --operation " + operation;
  text += " --" + std::string(resource_name(right.resource));
  return right.resource == KafkaResource::kCluster ? text : text + " '" + right.name + "'";
}

}  // namespace bloomring
