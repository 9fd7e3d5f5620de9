#include "state/legacy/legacy_lookup.h"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <set>

#include "tests/state/redis/odd_server.h"
#include "tests/support/redis_servers.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

using Words = std::vector<std::string>;

struct Asking {
  explicit Asking(const RedisAddress& address) {
    RedisClientConfig config;
    config.addresses = {address};
    config.timeout_ms = 10'000;
    client = std::make_unique<RedisClient>("test", config, counters);
  }
  RedisCounters counters;
  std::unique_ptr<RedisClient> client;
};

Words numbered(size_t count) {
  Words members;
  for (size_t i = 0; i < count; ++i) members.push_back("m" + std::to_string(i));
  return members;
}

// BF.MEXISTS of the module RedisBloom, which no package has, over exact sets. Without the key it answers as versions
// before 2.4 do.
std::optional<std::string> mexists(const Words& words) {
  static const std::map<std::string, std::set<std::string>> kFilters = {{"bf:1", {"m1", "m2400"}}, {"bf:2", {"m7"}}};
  if (words[0] != "BF.MEXISTS") return std::nullopt;
  const auto filter = kFilters.find(words[1]);
  if (filter == kFilters.end()) return "-ERR not found\r\n";
  std::string answer = "*" + std::to_string(words.size() - 2) + "\r\n";
  for (size_t i = 2; i < words.size(); ++i) answer += filter->second.contains(words[i]) ? ":1\r\n" : ":0\r\n";
  return answer;
}

// Servers that know ZMSCORE, and one that does not, as before 6.2.
const std::vector<Words> kServers = {{}, {"--rename-command", "ZMSCORE", ""}};

}  // namespace

TEST_CASE("legacy lookup: each member has its score, the greatest of all sets, and none has one by accident") {
  for (const Words& settings : kServers) {
    const RedisServer server(settings);
    Asking asking(server.address());
    server.ask({"ZADD", "a", "1", "m1", "5.5", "m3", "7", "m2499"});
    server.ask({"ZADD", "b", "9", "m1", "4", "m3", "-inf", "m4"});
    LegacyLookup lookup(*asking.client);
    for (int turn = 0; turn < 2; ++turn) {  // The second one by what the first has found out.
      const auto found = lookup.in_sets({"a", "none", "b"}, numbered(2'500), true);
      REQUIRE(found.ok());
      REQUIRE(found->scores.size() == 2'500);
      CHECK(found->largest == 3);
      std::map<size_t, std::string> there;
      for (size_t i = 0; i < found->scores.size(); ++i)
        if (!found->scores[i].empty()) there[i] = found->scores[i];
      CHECK(there == std::map<size_t, std::string>{{1, "9"}, {3, "5.5"}, {4, "-inf"}, {2499, "7"}});
    }
    CHECK(lookup.in_sets({"a"}, {}, true)->scores.empty());
    CHECK(lookup.in_sets({"a"}, {"m1"}, false)->largest == 0);
  }
}

TEST_CASE("legacy lookup: a key of another type and a server that is away are no empty answers") {
  RedisServer server;
  Asking asking(server.address());
  server.ask({"SET", "text", "x"});
  LegacyLookup lookup(*asking.client);
  const auto wrong = lookup.in_sets({"text"}, {"m1"}, false);
  REQUIRE_FALSE(wrong.ok());
  CHECK_THAT(wrong.status().message(), Catch::Contains("ZMSCORE text"));
  CHECK_FALSE(lookup.in_sets({"text"}, {"m1"}, true).ok());
  const auto none = lookup.in_filters({"bf:1"}, {"m1"});
  CHECK(none.code() == Code::kInvalid);
  CHECK_THAT(none.status().message(), Catch::Contains("no module RedisBloom"));
  Asking nobody(RedisAddress{"127.0.0.1", 1});
  RedisClientConfig quick = nobody.client->config();
  quick.timeout_ms = 200;
  RedisClient away("away", quick, nobody.counters);
  CHECK(LegacyLookup(away).in_sets({"a"}, {"m1"}, false).code() == Code::kRetry);
}

TEST_CASE("legacy lookup: members of any filter are found, and a filter that is not there has none") {
  const RedisServer behind;
  const OddServer server(behind, mexists);
  Asking asking(server.address());
  LegacyLookup lookup(*asking.client);
  const auto found = lookup.in_filters({"bf:1", "bf:none", "bf:2"}, numbered(2'500));
  REQUIRE(found.ok());
  std::vector<size_t> there;
  for (size_t i = 0; i < found->size(); ++i)
    if ((*found)[i]) there.push_back(i);
  CHECK(there == std::vector<size_t>{1, 7, 2400});
  CHECK(lookup.in_filters({"bf:1"}, {})->empty());
}
