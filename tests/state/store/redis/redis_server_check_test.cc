// The replies of servers of several kinds, and real redis-servers.
#include "state/store/redis/redis_server_check.h"

#include <catch2/catch.hpp>

#include "tests/state/redis/read_reply.h"
#include "tests/state/store/filter_store_beds.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

std::string bulk(const std::string& text) { return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n"; }
std::string pair(const std::string& name, const std::string& value) { return "*2\r\n" + bulk(name) + bulk(value); }

// The replies of a server, in the order of the questions: INFO twice, CONFIG GET four times.
ServerFindings judge(const std::vector<std::string>& replies) {
  std::vector<RedisReply> read;
  for (const std::string& bytes : replies) read.push_back(read_reply(bytes));
  ServerFindings findings;
  judge_server({"kv-1", 6379}, parse_server_settings(read), findings);
  return findings;
}

ServerFindings judge_redis(const std::string& memory, const std::string& policy, const std::string& append_only,
                           const std::string& save) {
  return judge({bulk("# Memory\r\n"), bulk("# Persistence\r\n"), pair("maxmemory", memory),
                pair("maxmemory-policy", policy), pair("appendonly", append_only), pair("save", save)});
}

ServerFindings ask(const std::vector<RedisAddress>& addresses, RedisLogin login = {}) {
  RedisStoreConfig config;
  config.addresses = addresses;
  config.login = std::move(login);
  const ManualClock clock{kNowMs};
  const Calendar calendar = std::move(Calendar::create(RetentionConfig())).value();
  auto found = RedisFilterStore(config, calendar, clock, false).check_servers();
  REQUIRE(found.status().to_string() == "ok");
  return std::move(*found);
}

}  // namespace

TEST_CASE("redis server check: a server that keeps everything has no findings") {
  for (const auto& [append_only, save] : {std::pair("yes", ""), std::pair("no", "3600 1"), std::pair("yes", "60 1")}) {
    const ServerFindings findings = judge_redis("1000000", "noeviction", append_only, save);
    CHECK(findings.refusals.empty());
    CHECK(findings.warnings.empty());
    CHECK(findings.unknown.empty());
  }
}

TEST_CASE("redis server check: every policy that evicts is refused where memory is bounded, with server and remedy") {
  for (const std::string policy : {"allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-lfu",
                                   "volatile-random", "volatile-ttl"}) {
    const ServerFindings findings = judge_redis("1000000", policy, "yes", "");
    REQUIRE(findings.refusals.size() == 1);
    CHECK_THAT(findings.refusals[0], Catch::Contains("server kv-1:6379") && Catch::Contains("maxmemory 1000000") &&
                                         Catch::Contains("maxmemory-policy " + policy) &&
                                         Catch::Contains("; set maxmemory-policy noeviction"));
    CHECK(findings.warnings.empty());
  }
}

TEST_CASE("redis server check: a policy that evicts is warned of while memory has no bound") {
  const ServerFindings findings = judge_redis("0", "allkeys-lru", "yes", "");
  CHECK(findings.refusals.empty());
  REQUIRE(findings.warnings.size() == 1);
  CHECK_THAT(findings.warnings[0], Catch::Contains("as soon as maxmemory bounds it"));
}

TEST_CASE("redis server check: neither an append-only file nor snapshots is warned of") {
  const ServerFindings findings = judge_redis("0", "noeviction", "no", "");
  CHECK(findings.refusals.empty());
  REQUIRE(findings.warnings.size() == 1);
  CHECK_THAT(findings.warnings[0], Catch::Contains("server kv-1:6379 writes nothing to a disk") &&
                                       Catch::Contains("; set appendonly yes"));
}

TEST_CASE("redis server check: what a server without CONFIG does not tell is unknown, and no fault") {
  const std::string none = "-ERR unknown command 'CONFIG'\r\n";
  const ServerFindings findings = judge({bulk("# Memory\r\nused_memory_rss:1\r\n"), none, none, none, none, none});
  CHECK(findings.refusals.empty());
  CHECK(findings.warnings.empty());
  REQUIRE(findings.unknown.size() == 1);
  CHECK_THAT(findings.unknown[0],
             Catch::Contains("server kv-1:6379 does not tell its maxmemory-policy and persistence") &&
                 Catch::Contains("unknown command 'CONFIG'"));
}

TEST_CASE("redis server check: a setting that a server does not have is unknown, too") {
  const ServerFindings findings =
      judge({bulk("# Memory\r\n"), bulk("# Persistence\r\n"), "*0\r\n", "*0\r\n", "*0\r\n", "*0\r\n"});
  CHECK(findings.refusals.empty());
  CHECK(findings.warnings.empty());
  CHECK(findings.unknown.size() == 1);
}

TEST_CASE("redis server check: a disk KV that answers for settings that it does not have is unknown") {
  const ServerFindings findings = judge({bulk("# Memory\r\nused_memory:0\r\n"), bulk("# Persistence\r\n"),
                                         pair("maxmemory", ""), pair("maxmemory-policy", ""), pair("appendonly", "no"),
                                         pair("save", "")});
  CHECK(findings.refusals.empty());
  CHECK(findings.warnings.empty());
  CHECK(findings.unknown.size() == 1);
}

TEST_CASE("redis server check: where CONFIG is forbidden, INFO tells the policy and the append-only file") {
  const std::string no = "-NOPERM this user has no permissions to run the 'config|get' command\r\n";
  const auto told = [&](const std::string& policy, const std::string& aof) {
    return judge({bulk("# Memory\r\nmaxmemory:5000\r\nmaxmemory_policy:" + policy + "\r\n"),
                  bulk("# Persistence\r\naof_enabled:" + aof + "\r\n"), no, no, no, no});
  };
  CHECK(told("allkeys-lru", "1").refusals.size() == 1);
  CHECK(told("noeviction", "1").refusals.empty());
  CHECK(told("noeviction", "1").unknown.empty());
  const ServerFindings findings = told("noeviction", "0");  // Snapshots are in CONFIG alone.
  CHECK(findings.warnings.empty());
  REQUIRE(findings.unknown.size() == 1);
  CHECK_THAT(findings.unknown[0], Catch::Contains("does not tell its persistence (NOPERM"));
}

TEST_CASE("redis server check: a real server is asked for its settings") {
  const RedisServer volatile_server({"--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru"});
  const ServerFindings bad = ask({volatile_server.address()});
  REQUIRE(bad.refusals.size() == 1);
  CHECK_THAT(bad.refusals[0], Catch::Contains("maxmemory 52428800, maxmemory-policy allkeys-lru"));
  REQUIRE(bad.warnings.size() == 1);
  CHECK_THAT(bad.warnings[0], Catch::Contains(volatile_server.address().text() + " writes nothing to a disk"));
  CHECK(bad.unknown.empty());
  const RedisServer durable_server({"--appendonly", "yes"});
  const ServerFindings good = ask({durable_server.address()});
  CHECK(good.refusals.empty());
  CHECK(good.warnings.empty());
  CHECK(good.unknown.empty());
}

TEST_CASE("redis server check: a real server that forbids CONFIG and INFO is unknown") {
  const RedisServer server(redis_user("site on >secret ~* +@all -config -info"));
  const ServerFindings findings = ask({server.address()}, {"site", "secret"});
  CHECK(findings.refusals.empty());
  CHECK(findings.warnings.empty());
  REQUIRE(findings.unknown.size() == 1);
  CHECK_THAT(findings.unknown[0], Catch::Contains(server.address().text()) && Catch::Contains("NOPERM"));
}

TEST_CASE("redis server check: a replica that would evict after a failover is named, and one that is away unknown") {
  RedisServer primary({"--appendonly", "yes"});
  RedisServer replica({"--appendonly", "yes", "--maxmemory", "50mb", "--maxmemory-policy", "volatile-ttl"});
  REQUIRE(replica.ask({"REPLICAOF", "127.0.0.1", std::to_string(primary.address().port)}) == "OK\n");
  wait_until_true("replication",
                  [&] { return replica.ask({"INFO", "replication"}).find("link_status:up") != std::string::npos; });
  const ServerFindings findings = ask({primary.address(), replica.address()});
  REQUIRE(findings.refusals.size() == 1);
  CHECK_THAT(findings.refusals[0], Catch::Contains(replica.address().text()));
  replica.kill_now();
  const ServerFindings without = ask({primary.address(), replica.address()});
  CHECK(without.refusals.empty());
  REQUIRE(without.unknown.size() == 1);
  CHECK_THAT(without.unknown[0], Catch::Contains(replica.address().text()));
}
