#include "schemas/topics.h"

#include <algorithm>
#include <array>

#include "base/result.h"

namespace bloomring {

namespace {

std::string text(int64_t number) { return std::to_string(number); }

using TopicSettings = std::map<std::string, std::string>;

// With three or more replicas, acknowledged records survive the loss of one replica. The broker's clock stamps the
// records: log time cuts the slots. With a producer's clock, the broker would refuse records from a clock that is ahead
// (message.timestamp.after.max.ms), and would expire too early those from a clock that is behind.
TopicSettings settings_of(const TopicRow& row, const TopicPlan& plan) {
  TopicSettings settings;
  if (row.owner == TopicOwner::kSite) return settings;
  settings["cleanup.policy"] = "delete";
  settings["retention.ms"] = text(plan.retention_ms * row.retention_factor);
  settings["max.message.bytes"] = text(kTopicMessageBytes);
  settings["message.timestamp.type"] = "LogAppendTime";
  if (plan.replication >= 3) settings["min.insync.replicas"] = "2";
  return settings;
}

int32_t partitions_of(const TopicRow& row, const TopicPlan& plan) {
  switch (row.partitions) {
    case TopicPartitions::kByShard: return plan.partitions;
    case TopicPartitions::kByPlays: return plan.plays_partitions;
    case TopicPartitions::kOne: return 1;
  }
  return 1;
}

}  // namespace

TopicRows topic_rows() {
  static constexpr std::array<TopicRow, 4> kRows{{
      {.role = TopicRole::kPlays,
       .key = "topics.plays",
       .default_name = "plays",
       .content = "plays as JSON, from any producer",
       .of_a_user = "the site's own records",
       .owner = TopicOwner::kSite,
       .many = true,
       .partitions = TopicPartitions::kByPlays},
      {.role = TopicRole::kUserEvents,
       .key = "topics.user_events",
       .default_name = "user-events",
       .content = "event blocks: the one ordered log of all events of all users",
       .of_a_user = "the user's id, hashes of items",
       .feeds_ring = true},
      {.role = TopicRole::kUserBatches,
       .key = "topics.user_batches",
       .default_name = "user-batches",
       .content = "user batches and slot ends, for the merge stage",
       .of_a_user = "the user's id, hashes of items"},
      // People look at dead letters, so these outlive the records that they came from.
      {.role = TopicRole::kDeadLetters,
       .key = "topics.dead",
       .default_name = "plays-dead",
       .content = "dead letters: refused records, unchanged, with the reason in their headers",
       .of_a_user = "refused records of the user, if any",
       .partitions = TopicPartitions::kOne,
       .retention_factor = 7},
  }};
  return kRows;
}

const TopicRow& topic_row(TopicRows rows, TopicRole role) {
  const auto found = std::ranges::find(rows, role, &TopicRow::role);
  BLOOMRING_CHECK(found != rows.end(), "a role without a topic");
  return *found;
}

std::string default_topic_name(TopicRole role) { return std::string(topic_row(topic_rows(), role).default_name); }

TopicNames::TopicNames(TopicRows rows) : rows_(rows) {
  for (const TopicRow& row : rows) names_[row.role] = {std::string(row.default_name)};
}

const std::string& TopicNames::one(TopicRole role) const {
  BLOOMRING_CHECK(!topic_row(rows_, role).many, "one name of a role that has several");
  return all(role).front();
}

const std::vector<std::string>& TopicNames::all(TopicRole role) const {
  const auto found = names_.find(role);
  BLOOMRING_CHECK(found != names_.end(), "a role without a topic");
  return found->second;
}

std::vector<std::string>& TopicNames::all(TopicRole role) {
  const auto found = names_.find(role);
  BLOOMRING_CHECK(found != names_.end(), "a role without a topic");
  return found->second;
}

std::vector<TopicSpec> topic_registry(const TopicPlan& plan) {
  std::vector<TopicSpec> topics;
  for (const TopicRow& row : plan.names.rows()) {
    for (const std::string& name : plan.names.all(row.role))
      topics.push_back({&row, name, partitions_of(row, plan), plan.replication, settings_of(row, plan)});
  }
  return topics;
}

}  // namespace bloomring
