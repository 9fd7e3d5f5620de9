#include "state/redis/redis_discovery.h"

#include <catch2/catch.hpp>
#include <map>
#include <optional>

#include "tests/state/redis/read_reply.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

const RedisAddress kOne{"10.0.0.1", 1}, kTwo{"10.0.0.2", 2}, kThree{"10.0.0.3", 3};

// Replies as servers send them.
const std::string kAllSlotsOfTwo = "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$8\r\n10.0.0.2\r\n:2\r\n";
const std::string kNoSlots = "*0\r\n";
const std::string kNoCluster = "-ERR This instance has cluster support disabled\r\n";
const std::string kUnknown = "-ERR unknown command 'CLUSTER'\r\n";
const std::string kPrimary = "*1\r\n$6\r\nmaster\r\n";
const std::string kReplica = "*1\r\n$5\r\nslave\r\n";

// Servers that answer at once by a table, "10.0.0.1:1 ROLE"; one that is not in it is away.
class Servers : public RedisDiscovery::Owner {
 public:
  void ask(const RedisAddress& server, std::initializer_list<std::string_view> words,
           std::function<void(RedisAnswer)> ended) override {
    std::string question = server.text();
    for (const std::string_view word : words) question += " " + std::string(word);
    asked.push_back(question);
    const auto reply = replies.find(question);
    if (reply == replies.end()) return ended(retry("away"));
    ended(std::vector<RedisReply>{read_reply(reply->second)});
  }
  void found(const RedisAddress& from, RedisTopology topology) override {
    ++ends;
    giver = from;
    result = std::move(topology);
  }
  void not_found(const std::string& finding, const std::string& way_out) override {
    ++ends;
    missing = finding + "; " + way_out;
  }
  void note_problem(std::string problem) override { problems.push_back(std::move(problem)); }
  void note_refusal(Status refusal) override { refusals.push_back(std::move(refusal)); }

  std::map<std::string, std::string> replies;
  std::vector<std::string> asked;
  int ends = 0;
  std::optional<RedisTopology> result;
  RedisAddress giver;
  std::string missing;
  std::vector<std::string> problems;
  std::vector<Status> refusals;
};

// Searches among three configured servers, the first of them first.
void search(Servers& servers) {
  RedisClientConfig config;
  config.addresses = {kOne, kTwo, kThree};
  RedisDiscovery discovery(config, servers);
  discovery.begin({kThree, kTwo, kOne});
  CHECK(servers.ends == 1);
}

}  // namespace

TEST_CASE("redis discovery: the first server that knows the slots of its cluster ends the search") {
  Servers servers;
  servers.replies = {{"10.0.0.1:1 CLUSTER SLOTS", kNoSlots}, {"10.0.0.2:2 CLUSTER SLOTS", kAllSlotsOfTwo}};
  search(servers);
  REQUIRE(servers.result.has_value());
  CHECK(servers.result->find(7)->primary == kTwo);
  CHECK(servers.giver == kTwo);
  CHECK(servers.problems == std::vector<std::string>{
                                "10.0.0.1:1: no slot is assigned; let the server join the cluster (CLUSTER MEET), or "
                                "name another"});
  CHECK(servers.asked == std::vector<std::string>{"10.0.0.1:1 CLUSTER SLOTS", "10.0.0.2:2 CLUSTER SLOTS"});
}

TEST_CASE("redis discovery: when no server answers, each was asked once, and the search says so") {
  Servers servers;
  search(servers);
  CHECK(servers.asked.size() == 3);
  CHECK_FALSE(servers.result.has_value());
  CHECK(servers.missing ==
        "no server of store.redis.addresses answers; see that they run and can be reached from here, or correct the "
        "list");
  CHECK(servers.refusals.empty());
}

TEST_CASE("redis discovery: of servers that are no cluster the first primary has all slots, and the others replicate") {
  Servers servers;
  const std::string first = GENERATE(as<std::string>(), kNoCluster, kUnknown);
  servers.replies = {{"10.0.0.1:1 CLUSTER SLOTS", first},
                     {"10.0.0.1:1 CLUSTER SHARDS", kUnknown},
                     {"10.0.0.1:1 ROLE", kReplica},
                     {"10.0.0.2:2 ROLE", kPrimary},
                     {"10.0.0.3:3 ROLE", kPrimary}};
  search(servers);
  REQUIRE(servers.result.has_value());
  for (const uint16_t slot : {0, 16383}) {
    CHECK(servers.result->find(slot)->primary == kTwo);
    CHECK(servers.result->find(slot)->replicas == std::vector{kOne, kThree});
  }
  CHECK(servers.problems == std::vector<std::string>{"10.0.0.1:1 is a slave"});
}

TEST_CASE("redis discovery: replicas alone are no topology") {
  Servers servers;
  servers.replies = {{"10.0.0.1:1 CLUSTER SLOTS", kNoCluster}, {"10.0.0.1:1 ROLE", kReplica}};
  search(servers);
  CHECK_FALSE(servers.result.has_value());
  CHECK(servers.missing ==
        "no primary among store.redis.addresses; name the primary, too, or make one of them (REPLICAOF NO ONE)");
}

TEST_CASE("redis discovery: a server that refuses this client is told of, and the next one is asked") {
  Servers servers;
  servers.replies = {{"10.0.0.1:1 CLUSTER SLOTS", "-NOAUTH Authentication required.\r\n"},
                     {"10.0.0.2:2 CLUSTER SLOTS", "-LOADING Redis is loading the dataset in memory\r\n"},
                     {"10.0.0.3:3 CLUSTER SLOTS", kAllSlotsOfTwo}};
  search(servers);
  CHECK(servers.result.has_value());
  REQUIRE(servers.refusals.size() == 1);
  CHECK(servers.refusals.front().code() == Code::kInvalid);
  CHECK_THAT(servers.refusals.front().message(), Catch::Contains("10.0.0.1:1: CLUSTER SLOTS"));
  REQUIRE(servers.problems.size() == 1);
  CHECK_THAT(servers.problems.front(), Catch::StartsWith("10.0.0.2:2: CLUSTER SLOTS: LOADING"));
}
