#include "state/legacy/legacy_scan.h"

#include <catch2/catch.hpp>
#include <memory>
#include <set>

#include "state/redis/redis_slot.h"
#include "tests/support/redis_servers.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

std::unique_ptr<RedisClient> client_of(std::vector<RedisAddress> addresses, RedisCounters& counters,
                                       int64_t timeout_ms = 10'000) {
  RedisClientConfig config;
  config.addresses = std::move(addresses);
  config.timeout_ms = timeout_ms;
  return std::make_unique<RedisClient>("test", config, counters);
}

void fill(RedisClient& client, size_t keys) {
  std::vector<RedisRequest> requests;
  for (size_t i = 0; i < keys; ++i) {
    const std::string key = "hist:" + std::to_string(i);
    RedisRequest request;
    append_redis_command(request.commands, {"ZADD", key, "1", "a"});
    request.slot = redis_slot(key);
    requests.push_back(std::move(request));
  }
  for (const RedisAnswer& answer : client.call_all(std::move(requests))) REQUIRE(answer.ok());
}

// Goes on until the end, or for so many steps.
void walk(LegacyScan& scan, std::set<std::string>& keys, int steps = 1'000'000) {
  for (int i = 0; i < steps; ++i) {
    auto some = scan.next();
    REQUIRE(some.ok());
    if (!*some) return;
    keys.insert((**some).begin(), (**some).end());
  }
}

}  // namespace

TEST_CASE("legacy scan: every key of the pattern is given, and no other one") {
  const RedisServer server;
  RedisCounters counters;
  const auto client = client_of({server.address()}, counters);
  fill(*client, 5'000);
  server.ask({"SET", "other", "x"});
  LegacyScan scan(*client, "hist:*");
  std::set<std::string> keys;
  walk(scan, keys);
  CHECK(keys.size() == 5'000);
  CHECK_FALSE(keys.contains("other"));
  CHECK(scan.position().done == std::vector<std::string>{server.address().text()});
  CHECK_FALSE(scan.next().value().has_value());
}

TEST_CASE("legacy scan: another process goes on from the position, and misses no key") {
  const RedisServer server;
  RedisCounters counters;
  const auto client = client_of({server.address()}, counters);
  fill(*client, 20'000);
  std::set<std::string> before, after;
  LegacyScan first(*client, "hist:*");
  walk(first, before, 5);
  const auto position = LegacyScanPosition::parse(first.position().text());
  REQUIRE(position.ok());
  CHECK(*position == first.position());
  CHECK(position->cursor != "0");
  LegacyScan second(*client, "hist:*", *position);
  walk(second, after);
  CHECK(after.size() < 20'000);  // It did not begin again.
  before.merge(after);
  CHECK(before.size() == 20'000);
}

TEST_CASE("legacy scan: a server that was started again is walked from its beginning") {
  RedisServer server({"--save", "", "--appendonly", "yes", "--appendfsync", "always"});
  RedisCounters counters;
  const auto client = client_of({server.address()}, counters);
  fill(*client, 20'000);
  std::set<std::string> before, after;
  LegacyScan scan(*client, "hist:*");
  walk(scan, before, 5);
  server.kill_now();
  server.start();
  // Each run hashes keys by a secret of its own: the cursor means other keys now.
  walk(scan, after);
  CHECK(after.size() == 20'000);
}

TEST_CASE("legacy scan: each primary of a cluster is walked, and one that is done is not walked again") {
  RedisCluster cluster(3, 0);
  RedisCounters counters;
  const auto client = client_of({cluster.primary(0).address()}, counters);
  fill(*client, 3'000);
  LegacyScan scan(*client, "hist:*");
  std::set<std::string> keys;
  while (scan.position().done.empty()) walk(scan, keys, 1);
  CHECK(keys.size() > 500);
  CHECK(keys.size() < 1'500);
  LegacyScan second(*client, "hist:*", scan.position());
  std::set<std::string> rest;
  walk(second, rest);
  CHECK(keys.size() + rest.size() == 3'000);
  CHECK(second.position().done.size() == 3);
}

TEST_CASE("legacy scan: while the server is away each step fails, and the walk goes on behind it") {
  RedisServer server;
  RedisCounters counters;
  const auto client = client_of({server.address()}, counters, 300);
  fill(*client, 5'000);
  LegacyScan scan(*client, "hist:*");
  std::set<std::string> keys;
  walk(scan, keys, 2);
  const LegacyScanPosition position = scan.position();
  server.freeze();
  CHECK(scan.next().code() == Code::kRetry);
  CHECK(scan.position() == position);
  server.unfreeze();
  walk(scan, keys);
  CHECK(keys.size() == 5'000);
}

TEST_CASE("legacy scan: a user who may not run INFO walks all the same") {
  const RedisServer server(redis_user("site on >secret ~* +@all -info"));
  RedisCounters counters;
  const auto writer = client_of({server.address()}, counters);
  fill(*writer, 3'000);
  RedisClientConfig config;
  config.addresses = {server.address()};
  config.login = {"site", "secret"};
  RedisClient reader("test", config, counters);
  LegacyScan scan(reader, "hist:*");
  std::set<std::string> keys;
  walk(scan, keys);
  CHECK(keys.size() == 3'000);
}

TEST_CASE("legacy scan: a position of another form is refused") {
  for (const char* text : {"done", "at a:1", "at a:1 run", "at a:1 r 0 at b:1 r 0", "begin", "done a:1 x"}) {
    INFO(text);
    CHECK(LegacyScanPosition::parse(text).code() == Code::kInvalid);
  }
  CHECK(LegacyScanPosition::parse("")->text().empty());
  CHECK(LegacyScanPosition::parse("done a:1 at b:2 5f0c 17")->text() == "done a:1 at b:2 5f0c 17");
}
