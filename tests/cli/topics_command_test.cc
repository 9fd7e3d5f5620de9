#include <catch2/catch.hpp>

#include "tests/cli/run_binary.h"

using namespace bloomring::testing;

namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("cli: topics are printed as Strimzi objects without a broker, those of the site on request") {
  const Outcome ours = run({"topics", "--output", "strimzi", "--set", "topics.partitions=20"});
  CHECK(ours.exit_code == 0);
  CHECK(count(ours.out, "kind: KafkaTopic\n") == 3);
  CHECK(contains(ours.out,
                 "---\napiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaTopic\nmetadata:\n  name: user-events\n"
                 "  labels:\n    strimzi.io/cluster: CLUSTER\nspec:\n  topicName: \"user-events\"\n  partitions: 20\n"
                 "  replicas: 3\n  config:\n    cleanup.policy: delete\n"));
  CHECK(contains(ours.out, "    message.timestamp.type: LogAppendTime\n"));
  CHECK_FALSE(contains(ours.out, "topicName: \"plays\"\n"));
  CHECK(contains(run({"topics", "--output", "strimzi", "--create-plays"}).out, "topicName: \"plays\"\n"));
}

TEST_CASE("cli: an object of a topic has a name that Kubernetes takes, and the topic's own name in it") {
  const std::string out = run({"topics", "--output", "strimzi", "--set", "topics.user_events=User_Events", "--set",
                               "topics.user_batches=user-events", "--set", "topics.dead=_dead."})
                              .out;
  CHECK(contains(out, "  name: user-events\n"));
  CHECK(contains(out, "  topicName: \"User_Events\"\n"));
  CHECK(contains(out, "  name: user-events-2\n"));
  CHECK(contains(out, "  name: dead\n"));
  CHECK(contains(out, "  topicName: \"_dead.\"\n"));
}

TEST_CASE("cli: topics of plays need a purpose, and objects are applied by others") {
  CHECK(run({"topics", "--create-plays"}).exit_code == 2);
  const Outcome both = run({"topics", "--execute", "--output", "strimzi"});
  CHECK(both.exit_code == 2);
  CHECK(contains(both.err, "--execute"));
}
