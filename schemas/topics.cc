#include "schemas/topics.h"

namespace bloomring {

namespace {

std::string text(int64_t number) { return std::to_string(number); }

// People look at dead letters, so these outlive the records that they came from.
constexpr int64_t kDeadRetentionFactor = 7;

using TopicSettings = std::map<std::string, std::string>;

// With three or more replicas, acknowledged records survive the loss of one replica. The broker's clock stamps the
// records: log time cuts the slots. With a producer's clock, the broker would refuse records from a clock that is ahead
// (message.timestamp.after.max.ms), and would expire too early those from a clock that is behind.
TopicSettings internal_settings(const TopicPlan& plan, int64_t retention_ms) {
  TopicSettings settings;
  settings["cleanup.policy"] = "delete";
  settings["retention.ms"] = text(retention_ms);
  settings["max.message.bytes"] = text(kTopicMessageBytes);
  settings["message.timestamp.type"] = "LogAppendTime";
  if (plan.replication >= 3) settings["min.insync.replicas"] = "2";
  return settings;
}

}  // namespace

std::string_view topic_role_name(TopicRole role) {
  switch (role) {
    case TopicRole::kPlays: return "plays";
    case TopicRole::kUserEvents: return "user-events";
    case TopicRole::kUserBatches: return "user-batches";
    case TopicRole::kDeadLetters: return "plays-dead";
  }
  return "";
}

std::vector<TopicSpec> topic_registry(const TopicPlan& plan) {
  using enum TopicRole;
  std::vector<TopicSpec> topics;
  for (const std::string& name : plan.names.plays) {
    topics.push_back({kPlays, name, "plays as JSON, from any producer", plan.plays_partitions, plan.replication, {},
                      false});
  }
  topics.push_back({kUserEvents, plan.names.user_events,
                    "event blocks: the one ordered log of all events of all users", plan.partitions,
                    plan.replication, internal_settings(plan, plan.retention_ms), true});
  topics.push_back({kUserBatches, plan.names.user_batches, "user batches and slot ends, for the merge stage",
                    plan.partitions, plan.replication, internal_settings(plan, plan.retention_ms), true});
  topics.push_back({kDeadLetters, plan.names.dead,
                    "dead letters: refused records, unchanged, with the reason in their headers", 1,
                    plan.replication, internal_settings(plan, plan.retention_ms * kDeadRetentionFactor), false});
  return topics;
}

}  // namespace bloomring
