#include "schemas/topics.h"

#include <catch2/catch.hpp>
#include <set>

using namespace bloomring;

TEST_CASE("topics: the registry has every topic in the order of the flow, by its configured name") {
  TopicPlan plan;
  plan.names.all(TopicRole::kPlays) = {"plays-app", "plays-web"};
  plan.names.all(TopicRole::kUserEvents) = {"events"};
  plan.names.all(TopicRole::kUserBatches) = {"batches"};
  plan.names.all(TopicRole::kDeadLetters) = {"dead"};
  std::vector<std::string> names;
  for (const TopicSpec& topic : topic_registry(plan)) {
    names.push_back(topic.name);
    CHECK_FALSE(topic.row->content.empty());
  }
  CHECK(names == std::vector<std::string>{"plays-app", "plays-web", "events", "batches", "dead"});
}

TEST_CASE("topics: only those that shards are mapped to have a fixed partition count, and it is the same") {
  TopicPlan plan;
  plan.partitions = 40;
  plan.plays_partitions = 7;
  plan.replication = 2;
  const std::vector<TopicSpec> topics = topic_registry(plan);
  REQUIRE(topics.size() == 4);
  CHECK(topics[0].partitions == 7);
  CHECK_FALSE(topics[0].partitions_fixed());
  for (const size_t internal : {1, 2}) {
    CHECK(topics[internal].partitions == 40);
    CHECK(topics[internal].partitions_fixed());
  }
  CHECK(topics[3].partitions == 1);  // Dead letters are written to partition 0.
  CHECK_FALSE(topics[3].partitions_fixed());
  for (const TopicSpec& topic : topics) CHECK(topic.replication == 2);
}

TEST_CASE("topics: those of ours are stamped by the broker, whatever the clocks of those who write to them say") {
  for (const size_t ours : {1, 2, 3})
    CHECK(topic_registry({})[ours].settings.at("message.timestamp.type") == "LogAppendTime");
  CHECK_FALSE(topic_registry({})[0].settings.contains("message.timestamp.type"));
}

TEST_CASE("topics: those of ours take the largest message that a producer of ours sends, by a setting of their own") {
  for (const size_t ours : {1, 2, 3}) {
    CHECK(std::stoll(topic_registry({})[ours].settings.at("max.message.bytes")) >= kMessageBytesMax);
  }
  CHECK_FALSE(topic_registry({})[0].settings.contains("max.message.bytes"));
}

TEST_CASE("topics: from three replicas on, what is acknowledged in a topic of ours survives the loss of a broker") {
  TopicPlan plan;
  plan.replication = 3;
  for (const size_t ours : {1, 2, 3}) CHECK(topic_registry(plan)[ours].settings.at("min.insync.replicas") == "2");
  plan.replication = 2;  // With one of two away nothing could be written.
  for (const size_t ours : {1, 2, 3}) CHECK_FALSE(topic_registry(plan)[ours].settings.contains("min.insync.replicas"));
}

TEST_CASE(
    "topics: internal topics are kept as long as configured and never compacted, dead letters seven times as long") {
  TopicPlan plan;
  plan.retention_ms = 1000;
  const std::vector<TopicSpec> topics = topic_registry(plan);
  CHECK(topics[0].settings.empty());  // How long a site keeps its plays is its own business.
  for (const size_t ours : {1, 2, 3}) CHECK(topics[ours].settings.at("cleanup.policy") == "delete");
  CHECK(topics[1].settings.at("retention.ms") == "1000");
  CHECK(topics[2].settings.at("retention.ms") == "1000");
  CHECK(topics[3].settings.at("retention.ms") == "7000");
}

TEST_CASE("topics: every row has a role, a key, a default name and a content of its own") {
  std::set<std::string_view> roles, keys, names, contents;
  for (const TopicRow& row : topic_rows()) {
    INFO(row.role.word);
    CHECK(roles.insert(row.role.word).second);
    CHECK(keys.insert(row.key).second);
    CHECK(names.insert(row.default_name).second);
    CHECK(contents.insert(row.content).second);
    CHECK(row.key.starts_with("topics."));
    CHECK_FALSE(row.of_a_user.empty());
    CHECK(topic_row(topic_rows(), row.role).key == row.key);
  }
}

TEST_CASE("topics: names are those of the rows until they are set, and a list only where the row has many") {
  TopicNames names;
  CHECK(names.one(TopicRole::kUserEvents) == "user-events");
  CHECK(names.all(TopicRole::kPlays) == std::vector<std::string>{"plays"});
  names.all(TopicRole::kUserEvents) = {"events"};
  const TopicNames moved = std::move(names);
  CHECK(moved.one(TopicRole::kUserEvents) == "events");
}
