#include "state/store/redis/redis_start.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>

#include "tests/state/redis/odd_server.h"
#include "tests/state/store/filter_store_beds.h"
#include "tests/state/store/redis/redis_partition.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

struct World {
  explicit World(std::vector<std::string> settings = {}) : server(std::move(settings)) {}
  Status start(bool writes, RedisLogin login = {}, uint32_t partitions = 4, const std::string& prefix = "bloomring:") {
    RedisStoreConfig config;
    config.addresses = {server.address()};
    config.login = std::move(login);
    config.partition_count = partitions;
    config.prefix = prefix;
    config.min_replicas = min_replicas;
    return RedisFilterStore(config, calendar, clock, writes).refresh();
  }
  RedisServer server;
  uint32_t min_replicas = 0;
  ManualClock clock{kNowMs};
  Calendar calendar = std::move(Calendar::create(RetentionConfig())).value();
};

}  // namespace

TEST_CASE("redis start: the writer makes the store, and readers wait for it") {
  World world;
  const Status early = world.start(false);
  CHECK(early.code() == Code::kRetry);
  CHECK_THAT(early.message(), Catch::Contains("no filter store is there yet") &&
                                  Catch::Contains("filter store bloomring: on " + world.server.address().text()));
  CHECK(world.start(true).to_string() == "ok");
  CHECK(world.start(true).to_string() == "ok");
  CHECK(world.start(false).to_string() == "ok");
  CHECK(world.server.ask({"EXISTS", "bloomring:{m}m", "bloomring:{m}k"}) == "2\n");  // The check's keys are gone.
  CHECK(world.server.ask({"DBSIZE"}) == "2\n");
}

TEST_CASE("redis start: the first writer makes the key of slot ends, all hear it, and a new log has another") {
  World world;
  RedisStoreConfig config;
  config.addresses = {world.server.address()};
  config.partition_count = 4;
  RedisFilterStore writer(config, world.calendar, world.clock, true), other(config, world.calendar, world.clock, true),
      reader(config, world.calendar, world.clock, false);
  CHECK(reader.slot_end_key().value() == std::nullopt);
  for (RedisFilterStore* store : {&writer, &other, &reader}) REQUIRE(store->refresh().to_string() == "ok");
  const auto key = writer.slot_end_key().value();
  REQUIRE(key);
  CHECK(other.slot_end_key().value() == key);
  CHECK(reader.slot_end_key().value() == key);
  REQUIRE(writer.begin_new_log().ok());
  CHECK(writer.slot_end_key().value() != key);
  REQUIRE(reader.refresh().ok());
  CHECK(reader.slot_end_key().value() == writer.slot_end_key().value());
  REQUIRE(world.server.ask({"SET", "bloomring:{m}k", "damaged"}) == "OK\n");
  REQUIRE(reader.refresh().ok());
  CHECK(reader.slot_end_key().code() == Code::kCorrupt);
  CHECK(RedisFilterStore(config, world.calendar, world.clock, true).refresh().ok());  // Makes it again.
  REQUIRE(reader.refresh().ok());
  CHECK(reader.slot_end_key().value());
}

TEST_CASE("redis start: a writer puts back the key of slot ends that a server lost, so that merging goes on") {
  World world;
  RedisStoreConfig config;
  config.addresses = {world.server.address()};
  config.partition_count = 4;
  RedisFilterStore writer(config, world.calendar, world.clock, true);
  RedisFilterStore reader(config, world.calendar, world.clock, false);
  for (RedisFilterStore* store : {&writer, &reader}) REQUIRE(store->refresh().to_string() == "ok");
  const auto key = writer.slot_end_key().value();
  REQUIRE(key);
  SECTION("gone") { REQUIRE(world.server.ask({"DEL", "bloomring:{m}k"}) == "1\n"); }
  SECTION("damaged") { REQUIRE(world.server.ask({"SET", "bloomring:{m}k", "damaged"}) == "OK\n"); }
  for (RedisFilterStore* store : {&writer, &reader}) REQUIRE(store->refresh().to_string() == "ok");
  CHECK(writer.slot_end_key().value() == key);
  CHECK(reader.slot_end_key().value() == key);
}

TEST_CASE("redis start: a store of another partition count is refused, under another prefix it is another store") {
  World world;
  REQUIRE(world.start(true).ok());
  for (const bool writes : {true, false}) {
    const Status other = world.start(writes, {}, 8);
    CHECK(other.code() == Code::kInvalid);
    CHECK_THAT(other.message(), Catch::Contains("made for 4 partitions, the configuration says 8"));
  }
  CHECK(world.start(true, {}, 8, "other:").ok());
}

TEST_CASE("redis start: a description that is not ours is left alone") {
  World world;
  REQUIRE(world.server.ask({"SET", "bloomring:{m}m", "of another"}) == "OK\n");
  CHECK(world.start(true).code() == Code::kCorrupt);
  CHECK(world.server.ask({"GET", "bloomring:{m}m"}) == "of another\n");
}

TEST_CASE("redis start: a command that the ACL forbids is named with the server's words") {
  for (const std::string command : {"mget", "exists", "eval", "pexpireat", "set", "get", "del"}) {
    World world(redis_user("site on >secret ~* +@all -" + command));
    const Status status = world.start(true, {"site", "secret"});
    CHECK(status.code() == Code::kInvalid);
    INFO(status.message());
    CHECK((status.message().find("NOPERM") != std::string::npos ||
           status.message().find("The user executing the script can't run this command") != std::string::npos));
    CHECK_THAT(status.message(), Catch::Contains("ACL SETUSER"));
  }
}

TEST_CASE("redis start: a user with these rights alone is enough") {
  World world(
      redis_user("site on >secret ~bloomring:* -@all +get +mget +exists +set +del +pexpireat +eval +rename +scan +ping "
                 "+role +cluster|slots +cluster|nodes +readonly +asking +time +wait"));
  CHECK(world.start(true, {"site", "secret"}).to_string() == "ok");
}

TEST_CASE("redis start: a command that the server does not have is named") {
  World world({"--rename-command", "EVAL", ""});
  const Status status = world.start(true);
  CHECK(status.code() == Code::kInvalid);
  CHECK_THAT(status.message(), Catch::Contains("EVAL") && Catch::Contains("lacks a command"));
  CHECK(world.start(false).code() == Code::kRetry);  // Reading needs no EVAL.
}

TEST_CASE("redis start: a server whose scripts change the bytes that they write is refused, and gets no store") {
  const RedisServer server;
  const OddServer text_alone(server, [&](OddServer::Words words) -> std::optional<std::string> {
    if (words.at(0) != "EVAL") return std::nullopt;
    for (std::string& word : words)
      std::ranges::replace_if(word, [](char byte) { return static_cast<unsigned char>(byte) > 127; }, '?');
    const RedisReply reply = server.reply(words);
    return "$" + std::to_string(reply.bytes.size()) + "\r\n" + reply.bytes + "\r\n";
  });
  const ManualClock clock{kNowMs};
  const Calendar calendar = std::move(Calendar::create(RetentionConfig())).value();
  RedisStoreConfig config;
  config.addresses = {text_alone.address()};
  const Status status = RedisFilterStore(config, calendar, clock, true).refresh();
  CHECK(status.code() == Code::kInvalid);
  CHECK_THAT(status.message(), Catch::Contains("scripts change the bytes"));
  CHECK(server.ask({"DBSIZE"}) == "0\n");
}

TEST_CASE("redis start: WAIT is needed where replicas must acknowledge") {
  World world({"--rename-command", "WAIT", ""});
  CHECK(world.start(true).ok());
  world.min_replicas = 1;
  CHECK(world.start(true).code() == Code::kInvalid);
}

TEST_CASE("redis start: a clock that is more than a day off is refused, of whichever server, with its address") {
  const RedisServer primary, replica;
  REQUIRE(replica.ask({"REPLICAOF", "127.0.0.1", std::to_string(primary.address().port)}) == "OK\n");
  std::atomic<int64_t> off_s = 0;
  const auto answer = [&](const OddServer::Words& words) -> std::optional<std::string> {
    if (words.at(0) != "TIME") return std::nullopt;
    const std::string now_s = std::to_string(SystemClock().now_ms() / 1000 + off_s);
    return "*2\r\n$" + std::to_string(now_s.size()) + "\r\n" + now_s + "\r\n$1\r\n0\r\n";
  };
  const OddServer wrong(GENERATE(true, false) ? primary : replica, answer);
  const ManualClock clock{kNowMs};
  const Calendar calendar = std::move(Calendar::create(RetentionConfig())).value();
  RedisStoreConfig config;
  config.addresses = {wrong.address()};
  for (const RedisServer* server : {&primary, &replica}) config.addresses.push_back(server->address());
  for (const auto& [off, words] : {std::pair(26 * 3600 + 1800, "26 hours ahead of"),
                                   std::pair(-400 * 86400, "hours behind"), std::pair(3600 * 12, "")}) {
    off_s = off;
    const Status status = RedisFilterStore(config, calendar, clock, true).refresh();
    CHECK(status.code() == (*words == '\0' ? Code::kOk : Code::kInvalid));
    CHECK_THAT(status.message(), Catch::Contains(words));
    if (*words != '\0') CHECK_THAT(status.message(), Catch::Contains(wrong.address().text()));
  }
}

TEST_CASE("redis start: while the clock of a server is wrong nothing is read or written, then all goes on") {
  const RedisServer server;
  std::atomic<int64_t> off_s = 0;
  const OddServer odd(server, [&](const OddServer::Words& words) -> std::optional<std::string> {
    if (words.at(0) != "TIME") return std::nullopt;
    const std::string now_s = std::to_string(SystemClock().now_ms() / 1000 + off_s);
    return "*2\r\n$" + std::to_string(now_s.size()) + "\r\n" + now_s + "\r\n$1\r\n0\r\n";
  });
  const ManualClock clock{kNowMs};
  const Calendar calendar = std::move(Calendar::create(RetentionConfig())).value();
  RedisStoreConfig config;
  config.addresses = {odd.address()};
  config.partition_count = kBedPartitions;
  config.clock_check_ms = 0;
  RedisFilterStore store(config, calendar, clock, true);
  REQUIRE(store.refresh().ok());
  const auto writer = take(store, partition_of_name("u1"));
  REQUIRE(play(*writer, "u1", {"a"}).ok());
  off_s = 200 * 86400 + 1800;
  CHECK(store.refresh().code() == Code::kRetry);
  const Status written = play(*writer, "u1", {"b"});
  CHECK(written.code() == Code::kRetry);
  for (const std::string& message : {written.message(), read(store, "u1").status().message(),
                                     store.heard_watermark(partition_of_name("u1")).status().message()})
    CHECK_THAT(message, Catch::Contains("the clock of the server " + odd.address().text() + " is 4800 hours ahead"));
  off_s = 0;
  REQUIRE(store.refresh().ok());
  CHECK(play(*writer, "u1", {"b"}).ok());
  CHECK(Bed::items_in(read(store, "u1")->filters, "u1", {"a", "b"}) == "ab");
}
