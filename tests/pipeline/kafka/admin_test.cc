#include "pipeline/kafka/admin.h"

#include <catch2/catch.hpp>

#include "kafka_world.h"

namespace bloomring::kafka::testing {

TEST_CASE("admin: describes topics that exist and says which do not, without creating them") {
  const auto broker = broker_with({{"plays", 3}});
  const auto admin = must(Admin::create(broker->settings()));
  for (int round = 0; round < 2; ++round) {
    const auto topics = must(admin->describe(std::vector<std::string>{"nowhere", "plays"}));
    REQUIRE(topics.size() == 2);
    CHECK_FALSE(topics[0].exists);
    CHECK(topics[1].exists);
    CHECK(topics[1].partitions == 3);
    CHECK(topics[1].replication == 1);
  }
}

TEST_CASE("admin: an address without a broker is kRetry in bounded time, and says where it looked") {
  const auto admin = must(Admin::create({.bootstrap = "127.0.0.1:9"}));
  const auto topics = admin->describe(std::vector<std::string>{"plays"}, 500);
  CHECK(topics.code() == Code::kRetry);
  CHECK_THAT(topics.status().message(), Catch::Contains("127.0.0.1:9") && Catch::Contains("kafka.bootstrap"));
  const NewTopic topic{.name = "plays"};
  CHECK(admin->create_topics(std::span(&topic, 1), 500).code() == Code::kRetry);
}

TEST_CASE("admin: settings that contradict each other are kInvalid") {
  const auto admin = Admin::create({.bootstrap = "127.0.0.1:9", .properties = {{"security.protocol", "nonsense"}}});
  CHECK(admin.code() == Code::kInvalid);
}

}  // namespace bloomring::kafka::testing
