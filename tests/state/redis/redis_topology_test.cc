#include "state/redis/redis_topology.h"

#include <catch2/catch.hpp>

#include "tests/state/redis/read_reply.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

const RedisAddress kAsked{"10.0.0.9", 7000};

std::string bulk(const std::string& text) { return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n"; }

// As redis-server 7.0 answers CLUSTER SLOTS; an entry has host, port, id and metadata.
std::string server(const std::string& host, int port) {
  return "*4\r\n" + bulk(host) + ":" + std::to_string(port) + "\r\n" + bulk("id") + "*0\r\n";
}

}  // namespace

TEST_CASE("redis topology: CLUSTER SLOTS names the primary and the replicas of each slot") {
  const auto topology = parse_cluster_slots(read_reply("*2\r\n*4\r\n:0\r\n:8000\r\n" + server("10.0.0.1", 1) +
                                                 server("10.0.0.2", 2) + "*3\r\n:8002\r\n:16383\r\n" + server("", 3)),
                                            kAsked);
  REQUIRE(topology.ok());
  CHECK(topology->find(0)->primary == RedisAddress{"10.0.0.1", 1});
  CHECK(topology->find(8000)->replicas == std::vector{RedisAddress{"10.0.0.2", 2}});
  CHECK(topology->find(8001) == nullptr);
  CHECK(topology->find(16383)->primary == RedisAddress{"10.0.0.9", 3});  // Without a host: the server that was asked.
  CHECK(topology->primaries().size() == 2);
  CHECK(topology->servers().size() == 3);
}

TEST_CASE("redis topology: CLUSTER SHARDS says the same") {
  const auto node = [](const std::string& host, int port, const std::string& role, const std::string& health) {
    return "*10\r\n" + bulk("id") + bulk("x") + bulk("port") + ":" + std::to_string(port) + "\r\n" + bulk("endpoint") +
           bulk(host) + bulk("role") + bulk(role) + bulk("health") + bulk(health);
  };
  const auto topology = parse_cluster_shards(
      read_reply("*2\r\n*4\r\n" + bulk("slots") + "*4\r\n:0\r\n:10\r\n:20\r\n:30\r\n" + bulk("nodes") + "*3\r\n" +
           node("10.0.0.2", 2, "replica", "online") + node("10.0.0.1", 1, "master", "online") +
           node("10.0.0.7", 7, "replica", "fail") + "*4\r\n" + bulk("slots") + "*0\r\n" + bulk("nodes") + "*1\r\n" +
           node("10.0.0.3", 3, "master", "online")),
      kAsked);
  REQUIRE(topology.ok());
  for (const uint16_t slot : {0, 10, 20, 30}) CHECK(topology->find(slot)->primary == RedisAddress{"10.0.0.1", 1});
  CHECK(topology->find(11) == nullptr);
  CHECK(topology->find(25)->replicas == std::vector{RedisAddress{"10.0.0.2", 2}});
}

TEST_CASE("redis topology: a slot that has moved is asked for at its new server alone") {
  RedisTopology topology;
  topology.add({0, 100, {"a", 1}, {}});
  topology.add({101, 16383, {"b", 2}, {}});
  topology.move(7, {"b", 2});
  topology.move(8, {"c", 3});
  CHECK(topology.find(6)->primary == RedisAddress{"a", 1});
  CHECK(topology.find(7)->primary == RedisAddress{"b", 2});
  CHECK(topology.find(8)->primary == RedisAddress{"c", 3});
  CHECK(topology.primaries().size() == 3);
}

TEST_CASE("redis topology: a reply of another form is refused") {
  for (const char* bytes : {":1\r\n", "*1\r\n:1\r\n", "*1\r\n*3\r\n:0\r\n:16384\r\n*0\r\n", "+OK\r\n"})
    CHECK(parse_cluster_slots(read_reply(bytes), kAsked).code() == Code::kRetry);
  for (const char* bytes : {":1\r\n", "*1\r\n:1\r\n", "+OK\r\n"})
    CHECK(parse_cluster_shards(read_reply(bytes), kAsked).code() == Code::kRetry);
}

TEST_CASE("redis topology: a server whose port is none is left out, whatever its low bits say") {
  for (const int port : {0, -1, 65'536 + 6'379}) {
    const std::string range = "*1\r\n*4\r\n:0\r\n:16383\r\n" + server("a", 1) + server("b", port);
    CHECK(parse_cluster_slots(read_reply(range), kAsked)->servers() == std::set<RedisAddress>{{"a", 1}});
    const std::string node = "*6\r\n" + bulk("port") + ":" + std::to_string(port) + "\r\n" + bulk("endpoint") +
                             bulk("b") +
                             bulk("role") + bulk("master");
    const std::string shard =
        "*1\r\n*4\r\n" + bulk("slots") + "*2\r\n:0\r\n:16383\r\n" + bulk("nodes") + "*1\r\n" + node;
    CHECK(parse_cluster_shards(read_reply(shard), kAsked)->empty());
  }
}
