// A topic that is added by its row alone (schemas/topics.h), as docs/architecture.md tells to add one.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "pipeline/settings/keys/all_keys.h"
#include "pipeline/settings/keys/settings_check.h"
#include "pipeline/settings/keys/topic_keys.h"
#include "pipeline/stages/topology.h"
#include "pipeline/topics/kafka_rights.h"
#include "pipeline/topics/topic_check.h"
#include "tests/pipeline/kafka/kafka_world.h"
#include "tests/pipeline/stages/last_played_row.h"

namespace bloomring {
namespace {

using kafka::testing::broker_with;
using kafka::testing::must;
using testing::kLastPlayedBatches;

constexpr const char* kAdded = "last-played-batches";

Settings settings_with_row() {
  Settings settings;
  settings.topics.names = TopicNames(testing::rows_with_last_played());
  settings.topics.partitions = 4;
  settings.stages = all_stages(topology());
  return settings;
}

const TopicFinding& finding_of_added(const std::vector<TopicFinding>& findings) {
  const auto found = std::ranges::find(findings, kAdded, [](const TopicFinding& one) { return one.wanted.name; });
  REQUIRE(found != findings.end());
  return *found;
}

std::vector<TopicFinding> check(const kafka::EmbeddedBroker& broker, Settings settings) {
  settings.kafka.bootstrap = broker.bootstrap();
  const auto admin = must(kafka::Admin::create(broker.settings()));
  return must(check_topics(*admin, topics_of(settings), settings));
}

}  // namespace

TEST_CASE("topic row: its key is a setting with a page, and its name must differ from those of the others") {
  Settings settings = settings_with_row();
  Config config;
  declare_settings(config, settings, topology());
  CHECK_THAT(config.reference_markdown(), Catch::Contains("| `topics.last_played_batches` |"));
  REQUIRE(config.load({.flags = {{"topics.last_played_batches", "other", "--set"}}}).ok());
  CHECK(settings.topics.name(kLastPlayedBatches) == "other");
  settings.topics.names.all(kLastPlayedBatches) = {"user-events"};
  std::vector<std::string> warnings;
  CHECK_THAT(check_settings_fit(settings, config, warnings).message(),
             Catch::Contains("topics.last_played_batches is user-events, which is already the name of another topic"));
}

TEST_CASE("topic row: the topic is found missing, created with the settings of its row, and its partitions checked") {
  const Settings settings = settings_with_row();
  const auto without = broker_with({{"plays", 1}, {"user-events", 4}, {"user-batches", 4}, {"plays-dead", 1}});
  const std::vector<TopicFinding> missing = check(*without, settings);
  CHECK_THAT(finding_of_added(missing).missing, Catch::Contains("topic last-played-batches does not exist"));
  const std::vector<kafka::NewTopic> created = topics_to_create(missing, /*with_plays=*/false);
  REQUIRE(created.size() == 1);
  CHECK(created[0].name == kAdded);
  CHECK(created[0].partitions == 4);
  CHECK(created[0].config.at("cleanup.policy") == "delete");
  CHECK(created[0].config.at("retention.ms") == std::to_string(2 * 48LL * 3'600'000));
  CHECK(created[0].config.at("message.timestamp.type") == "LogAppendTime");

  const auto wrong = broker_with({{kAdded, 3}});
  const std::vector<std::string> errors = finding_of_added(check(*wrong, settings)).errors;
  REQUIRE(errors.size() == 1);
  CHECK_THAT(errors[0], Catch::Contains("has 3 partitions, topics.partitions says 4"));
}

TEST_CASE("topic row: a start needs the topic, and each stage has the rights that its own row asks for") {
  Settings settings = settings_with_row();
  const auto needs = [&] {
    return std::ranges::any_of(topics_at_start(settings), [](const TopicSpec& one) { return one.name == kAdded; });
  };
  CHECK(needs());
  const auto rights = [&](const StageRow& stage) {
    const std::vector<KafkaRight> all = rights_of(stage, settings);
    const auto found = std::ranges::find(all, kAdded, &KafkaRight::name);
    REQUIRE(found != all.end());
    return found->operations;
  };
  using Operations = std::vector<std::string>;
  CHECK(rights({.name = "last-played", .purpose = "", .reads = {kLastPlayedBatches}, .writes = {}}) ==
        Operations{"Read", "DescribeConfigs"});
  CHECK(rights({.name = "writer", .purpose = "", .reads = {}, .writes = {kLastPlayedBatches}}) ==
        Operations{"Write", "DescribeConfigs"});
  CHECK(rights(*settings.stages.front()) == Operations{"Describe", "DescribeConfigs"});
}

TEST_CASE("topic row: a topic of the site is needed by the stages that read it alone, and created on request alone") {
  Settings settings;
  settings.stages = stages_named(topology(), {"merge"});
  const auto of_the_site = [](const TopicSpec& topic) { return topic.of_the_site(); };
  CHECK(std::ranges::none_of(topics_at_start(settings), of_the_site));
  settings.stages = stages_named(topology(), {"ingest"});
  CHECK(std::ranges::any_of(topics_at_start(settings), of_the_site));
  std::vector<TopicFinding> findings;
  for (const TopicSpec& topic : topics_of(settings)) findings.push_back({topic, {}, {}, {}, {}});
  CHECK(topics_to_create(findings, /*with_plays=*/false).size() == 3);
  CHECK(topics_to_create(findings, /*with_plays=*/true).size() == 4);
}

}  // namespace bloomring
