#include "pipeline/topics/kafka_rights.h"

#include <catch2/catch.hpp>

#include "pipeline/stages/topology.h"

using namespace bloomring;

namespace {

std::vector<KafkaRight> rights(std::string_view stage, uint32_t canary_seconds = 0) {
  Settings settings;
  settings.canary.interval_seconds = canary_seconds;
  settings.topics.names.all(TopicRole::kPlays) = {"views", "likes"};
  settings.topics.names.all(TopicRole::kUserEvents) = {"events"};
  settings.kafka.group_prefix = "site";
  return rights_of(*stages_named(topology(), {stage}).front(), settings);
}

KafkaRight topic(const std::string& name, std::vector<std::string> operations) {
  return {KafkaResource::kTopic, name, std::move(operations)};
}

KafkaRight group(const std::string& name, const std::string& operation = "Read") {
  return {KafkaResource::kGroup, name, {operation}};
}

}  // namespace

TEST_CASE("kafka rights: jobs read and put back plays, write events, and make the topic of their positions") {
  Settings settings;
  settings.topics.names.all(TopicRole::kPlays) = {"views", "likes"};
  settings.kafka.group_prefix = "site";
  CHECK(rights_of_jobs(settings) == std::vector<KafkaRight>{topic("views", {"Read", "Write", "DescribeConfigs"}),
                                                            topic("likes", {"Read", "Write", "DescribeConfigs"}),
                                                            topic("user-events", {"Read", "Write"}),
                                                            topic("plays-dead", {"Read", "Write"}),
                                                            topic("site-jobs", {"Read", "Write", "Create"})});
}

TEST_CASE("kafka rights: a stage reads and writes the topics of its row alone, and joins its own group alone") {
  CHECK(rights("ingest") == std::vector<KafkaRight>{topic("views", {"Read"}),
                                                    topic("likes", {"Read"}),
                                                    topic("events", {"Write", "DescribeConfigs"}),
                                                    topic("user-batches", {"Describe", "DescribeConfigs"}),
                                                    topic("plays-dead", {"Write", "DescribeConfigs"}),
                                                    group("site-ingest")});
  CHECK(rights("window") == std::vector<KafkaRight>{topic("events", {"Read", "DescribeConfigs"}),
                                                    topic("user-batches", {"Write", "DescribeConfigs"}),
                                                    topic("plays-dead", {"Write", "DescribeConfigs"}),
                                                    group("site-window"), group("site-merge", "Describe")});
  CHECK(rights("merge") == std::vector<KafkaRight>{topic("events", {"Describe", "DescribeConfigs"}),
                                                   topic("user-batches", {"Read", "DescribeConfigs"}),
                                                   topic("plays-dead", {"Write", "DescribeConfigs"}),
                                                   group("site-merge")});
  CHECK(rights("serve") == std::vector<KafkaRight>{topic("events", {"Read", "Write", "DescribeConfigs"}),
                                                   topic("user-batches", {"Describe", "DescribeConfigs"}),
                                                   topic("plays-dead", {"Describe", "DescribeConfigs"})});
}

TEST_CASE("kafka rights: with a canary the stage that takes calls may write to the first topic of plays, alone") {
  CHECK(rights("serve", 60) == std::vector<KafkaRight>{topic("views", {"Write"}),
                                                       topic("events", {"Read", "Write", "DescribeConfigs"}),
                                                       topic("user-batches", {"Describe", "DescribeConfigs"}),
                                                       topic("plays-dead", {"Describe", "DescribeConfigs"})});
  for (const char* other : {"ingest", "window", "merge"}) CHECK(rights(other, 60) == rights(other));
}
