// The client with its router and connections, on real servers.
#include "state/redis/redis_client.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "state/redis/redis_slot.h"
#include "tests/state/redis/odd_server.h"
#include "tests/support/redis_servers.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

RedisRequest request(const std::string& key, std::initializer_list<std::string_view> words) {
  RedisRequest made;
  append_redis_command(made.commands, words);
  made.slot = redis_slot(key);
  return made;
}

std::string text(const RedisAnswer& answer) {
  if (!answer.ok()) return std::string(code_name(answer.code()));
  return answer->back().is(RedisReply::Kind::kInteger) ? std::to_string(answer->back().integer) : answer->back().bytes;
}

struct Bed {
  explicit Bed(std::vector<RedisAddress> addresses, int64_t timeout_ms = 5'000, RedisLogin login = {}) {
    RedisClientConfig config;
    config.addresses = std::move(addresses);
    config.login = std::move(login);
    config.timeout_ms = timeout_ms;
    client = std::make_unique<RedisClient>("test", config, counters);
  }
  std::string set(const std::string& key, const std::string& value) {
    return text(client->call(request(key, {"SET", key, value})));
  }
  std::string get(const std::string& key) { return text(client->call(request(key, {"GET", key}))); }
  Status failure(const std::string& key) { return client->call(request(key, {"GET", key})).status(); }

  RedisCounters counters;
  std::unique_ptr<RedisClient> client;
};

}  // namespace

TEST_CASE("redis client: requests of many keys are answered, each with its own") {
  const RedisServer server;
  Bed bed({server.address()});
  std::vector<RedisRequest> sets, gets;
  for (int i = 0; i < 6000; ++i) {
    const std::string key = "k" + std::to_string(i);
    sets.push_back(request(key, {"SET", key, std::to_string(i)}));
    gets.push_back(request(key, {"GET", key}));
  }
  for (const RedisAnswer& answer : bed.client->call_all(std::move(sets))) REQUIRE(text(answer) == "OK");
  const std::vector<RedisAnswer> answers = bed.client->call_all(std::move(gets));
  for (int i = 0; i < 6000; ++i) REQUIRE(text(answers[static_cast<size_t>(i)]) == std::to_string(i));
  CHECK(bed.counters.connects == 1);
  CHECK(bed.counters.bytes_sent > 6000 * 20);
}

TEST_CASE("redis client: more than the bound are refused") {
  RedisServer server;
  RedisCounters counters;
  RedisClientConfig config;
  config.addresses = {server.address()};
  config.in_flight_max = 3;
  RedisClient client("test", config, counters);
  server.freeze();
  std::atomic<int> ended = 0;
  for (int i = 0; i < 3; ++i) {
    RedisRequest one = request("k", {"GET", "k"});
    one.end = [&](RedisAnswer) { ++ended; };
    CHECK(client.begin(std::move(one)));
  }
  CHECK_FALSE(client.begin(request("k", {"GET", "k"})));
  server.unfreeze();
  wait_until_true("the answers", [&] { return ended == 3; });
  CHECK(client.begin(request("k", {"GET", "k"})));
}

TEST_CASE("redis client: a cluster is asked where the slot of a key is, from any of its servers") {
  RedisCluster cluster(3, 0);
  Bed bed({cluster.primary(2).address()});
  for (int i = 0; i < 200; ++i) REQUIRE(bed.set("k" + std::to_string(i), std::to_string(i)) == "OK");
  for (int i = 0; i < 200; ++i) REQUIRE(bed.get("k" + std::to_string(i)) == std::to_string(i));
  CHECK(bed.counters.redirects == 0);
  CHECK(bed.client->primaries()->size() == 3);
}

TEST_CASE("redis client: a slot that moves is followed, in the middle of the move and behind it") {
  RedisCluster cluster(3, 0);
  Bed bed(cluster.addresses());
  const std::string one = "{tag}1", two = "{tag}2", three = "{tag}3";
  const uint16_t slot = redis_slot(one);
  const size_t from = cluster.primary_of(slot), to = (from + 1) % 3;
  REQUIRE(bed.set(one, "a") == "OK");
  REQUIRE(bed.set(two, "b") == "OK");
  cluster.begin_move(slot, from, to);
  cluster.move_keys(slot, from, to, 1);
  // One key is here, the other there: each is found (ASK).
  CHECK(bed.get(one) == "a");
  CHECK(bed.get(two) == "b");
  CHECK(bed.counters.redirects > 0);
  // Both at once: TRYAGAIN, until the move is over.
  auto both = std::async([&] { return bed.client->call(request(one, {"MGET", one, two})); });
  wait_until_true("TRYAGAIN", [&] { return bed.counters.tried_again > 0; });
  cluster.move_keys(slot, from, to, 10);
  cluster.end_move(slot, to);
  const RedisAnswer answer = both.get();
  REQUIRE(answer.ok());
  CHECK(answer->front().elements.at(0).bytes == "a");
  CHECK(answer->front().elements.at(1).bytes == "b");
  // MOVED is learnt: at most one more redirect.
  CHECK(bed.set(three, "c") == "OK");
  const uint64_t redirects = bed.counters.redirects;
  for (int i = 0; i < 20; ++i) CHECK(bed.get(three) == "c");
  CHECK(bed.counters.redirects <= redirects + 1);
}

TEST_CASE("redis client: a server that dies and comes back is connected to again, and nothing under way is lost") {
  RedisServer server({"--appendonly", "yes"});
  Bed bed({server.address()}, 20'000);
  REQUIRE(bed.set("k", "1") == "OK");
  server.kill_now();
  auto waiting = std::async([&] { return bed.get("k"); });
  wait_until_true("another try", [&] { return bed.counters.tried_again > 0 || bed.counters.breaks > 1; });
  server.start();
  CHECK(waiting.get() == "1");
  CHECK(bed.counters.breaks > 0);
}

TEST_CASE("redis client: a server that is away fails reads that asked for it at once, others when their time is over") {
  RedisServer server;
  Bed bed({server.address()}, 500);
  REQUIRE(bed.set("k", "1") == "OK");
  server.kill_now();
  const Status slow = bed.failure("k");
  CHECK(slow.code() == Code::kRetry);
  CHECK_THAT(slow.message(), Catch::Contains("did not answer within") && Catch::Contains(server.address().text()));
  RedisRequest fast = request("k", {"GET", "k"});
  fast.fail_fast = true;
  fast.timeout_ms = 1'000'000;
  CHECK(bed.client->call(std::move(fast)).code() == Code::kRetry);
}

TEST_CASE("redis client: a frozen server costs a request no more than its time, and answers nobody else's question") {
  RedisServer server;
  Bed bed({server.address()}, 300);
  REQUIRE(bed.set("a", "of a") == "OK");
  REQUIRE(bed.set("b", "of b") == "OK");
  server.freeze();
  CHECK(bed.failure("a").code() == Code::kRetry);
  server.unfreeze();
  wait_until_true("the server to answer", [&] { return bed.get("b") != "retry"; });
  for (int i = 0; i < 20; ++i) {
    CHECK(bed.get("b") == "of b");
    CHECK(bed.get("a") == "of a");
  }
}

TEST_CASE("redis client: a request that is late says so once, while it is under way, and one that ended never") {
  RedisServer server;
  Bed bed({server.address()});
  REQUIRE(bed.set("k", "a") == "OK");
  std::atomic<int> early = 0, late = 0, ended = 0;
  const auto begin = [&](int64_t late_ms, std::atomic<int>& count) {
    RedisRequest one = request("k", {"GET", "k"});
    one.late_ms = late_ms;
    one.late = [&count] { ++count; };
    one.end = [&](const RedisAnswer& answer) { ended += text(answer) == "a" ? 1 : 0; };
    REQUIRE(bed.client->begin(std::move(one)));
  };
  begin(50, early);
  wait_until_true("the answer", [&] { return ended == 1; });
  const int early_by_then = early;  // 0, unless the answer took so long.
  server.freeze();
  begin(60, late);
  begin(1, late);
  wait_until_true("both to be late", [&] { return late == 2; });
  CHECK(ended == 1);
  server.unfreeze();
  wait_until_true("the answers", [&] { return ended == 3; });
  CHECK(late == 2);
  CHECK(early == early_by_then);
}

TEST_CASE("redis client: the slots of a cluster may move, those of servers that are none may not") {
  RedisServer server;
  Bed alone({server.address()});
  REQUIRE(alone.get("k").empty());
  CHECK_FALSE(alone.client->slots_may_move());
  RedisCluster cluster(3, 0);
  Bed bed(cluster.addresses());
  REQUIRE(bed.get("k").empty());
  CHECK(bed.client->slots_may_move());
}

TEST_CASE("redis client: a server that answers ever later is given up, so that no backlog of it grows without end") {
  const RedisServer server;
  // It answers one request for each ten that come: it is never silent.
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t allowed = 0;
  bool ends = false;
  const OddServer slow(server, [&](const OddServer::Words& words) -> std::optional<std::string> {
    if (words.at(0) != "GET") return std::nullopt;
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ends || allowed > 0; });
    if (allowed > 0) --allowed;
    return "$-1\r\n";
  });
  {
    Bed bed({slow.address()}, 300);
    wait_until_true("the connection to be given up", [&] {
      for (int i = 0; i < 10; ++i) static_cast<void>(bed.client->begin(request("k", {"GET", "k"})));
      {
        const std::lock_guard lock(mutex);
        ++allowed;
      }
      changed.notify_all();
      return bed.counters.breaks > 0;
    });
  }
  {
    const std::lock_guard lock(mutex);
    ends = true;
  }
  changed.notify_all();
}

TEST_CASE("redis client: the right login is let in, a wrong or missing one is refused with the way out") {
  std::vector<std::string> settings = redis_user("site on >second ~* +@all");
  settings.insert(settings.end(), {"--requirepass", "first"});
  const RedisServer server(settings);
  CHECK(Bed({server.address()}, 5'000, {"", "first"}).set("k", "1") == "OK");
  CHECK(Bed({server.address()}, 5'000, {"site", "second"}).get("k") == "1");
  for (const RedisLogin& login : {RedisLogin{"", "wrong"}, RedisLogin{"site", "first"}, RedisLogin{"nobody", "x"},
                                  RedisLogin{}}) {
    const Status status = Bed({server.address()}, 5'000, login).failure("k");
    CHECK(status.code() == Code::kInvalid);
    CHECK_THAT(status.message(), Catch::Contains("store.redis.password_file"));
  }
}

TEST_CASE("redis client: an endpoint of another protocol, or one where nobody listens, is named") {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&place), size) == 0);
  REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&place), &size) == 0);
  const RedisAddress address{"127.0.0.1", ntohs(place.sin_port)};
  const Status nobody = Bed({address}, 300).failure("k");
  CHECK(nobody.code() == Code::kRetry);
  CHECK_THAT(nobody.message(), Catch::Contains(address.text() + ": Connection refused"));
  REQUIRE(::listen(listener, 16) == 0);
  std::atomic<bool> stop = false;
  std::thread web([&] {
    while (!stop) {
      const int peer = ::accept(listener, nullptr, nullptr);
      if (peer < 0) return;
      const std::string_view answer = "HTTP/1.1 400 Bad Request\r\n\r\n";
      static_cast<void>(!::write(peer, answer.data(), answer.size()));
      ::close(peer);
    }
  });
  const Status web_server = Bed({address}, 5'000).failure("k");
  CHECK(web_server.code() == Code::kInvalid);
  CHECK_THAT(web_server.message(), Catch::Contains(address.text() + ": no server of the Redis protocol"));
  stop = true;
  ::shutdown(listener, SHUT_RDWR);
  ::close(listener);
  web.join();
}

TEST_CASE("redis client: a server that stays away is named once in a failure, however often it was tried") {
  RedisServer server;
  Bed bed({server.address()}, 3'000);
  REQUIRE(bed.set("k", "v") == "OK");
  server.kill_now();
  const std::string message = bed.client->call(request("k", {"GET", "k"})).status().message();
  INFO(message);
  const size_t first = message.find("no server of store.redis.addresses answers");
  CHECK(first != std::string::npos);
  CHECK(message.rfind("no server of store.redis.addresses answers") == first);
}

TEST_CASE("redis client: among servers that are no cluster, the primary gets the requests") {
  RedisServer primary, replica;
  REQUIRE(replica.ask({"REPLICAOF", "127.0.0.1", std::to_string(primary.address().port)}) == "OK\n");
  Bed bed({replica.address(), primary.address()});
  CHECK(bed.set("k", "1") == "OK");
  wait_until_true("replication", [&] { return replica.ask({"GET", "k"}) == "1\n"; });
  // The operator makes the replica the primary.
  primary.kill_now();
  REQUIRE(replica.ask({"REPLICAOF", "NO", "ONE"}) == "OK\n");
  wait_until_true("the new primary to be found", [&] { return bed.set("k", "2") == "OK"; });
  CHECK(replica.ask({"GET", "k"}) == "2\n");
}

TEST_CASE("redis client: a primary that is killed is replaced by its replica within the time of a request") {
  RedisCluster cluster(3, 1);
  Bed bed(cluster.addresses(), 30'000);
  for (int i = 0; i < 30; ++i) REQUIRE(bed.set("k" + std::to_string(i), "1") == "OK");
  cluster.primary(0).kill_now();
  for (int i = 0; i < 30; ++i) CHECK(bed.set("k" + std::to_string(i), "2") == "OK");
  for (int i = 0; i < 30; ++i) CHECK(bed.get("k" + std::to_string(i)) == "2");
}

TEST_CASE("redis client: a client that ends with requests under way ends them") {
  RedisServer server;
  Bed bed({server.address()}, 60'000);
  REQUIRE(bed.set("k", "1") == "OK");
  server.freeze();
  std::atomic<int> retries = 0;
  for (int i = 0; i < 10; ++i) {
    RedisRequest one = request("k", {"GET", "k"});
    one.end = [&](RedisAnswer answer) { retries += answer.code() == Code::kRetry ? 1 : 0; };
    REQUIRE(bed.client->begin(std::move(one)));
  }
  bed.client.reset();
  CHECK(retries == 10);
  server.unfreeze();
}

TEST_CASE("redis client: every failure names the server that was asked, or all addresses, and a way out") {
  RedisServer server;
  const std::string name = server.address().text();
  SECTION("a server that stands still") {
    Bed bed({server.address()}, 300);
    wait_until_true("the server to answer in time", [&] { return bed.set("k", "1") == "OK"; });
    server.freeze();
    const std::string message = bed.failure("k").message();
    server.unfreeze();
    CHECK_THAT(message, Catch::StartsWith(name + ": the filter store did not answer within ") &&
                            Catch::Contains("see that it runs, is not overloaded"));
  }
  SECTION("no server at all") {
    const RedisAddress other{"127.0.0.1", 1};
    server.kill_now();
    const std::string message = Bed({server.address(), other}, 300).failure("k").message();
    CHECK_THAT(message, Catch::StartsWith("a server of " + name + ", 127.0.0.1:1: the filter store did not answer") &&
                            Catch::Contains("no server of store.redis.addresses answers (" + name + ", 127.0.0.1:1)") &&
                            Catch::Contains("or correct the list"));
  }
  SECTION("replicas alone") {
    RedisServer replica;
    REQUIRE(replica.ask({"REPLICAOF", "127.0.0.1", std::to_string(server.address().port)}) == "OK\n");
    const std::string message = Bed({replica.address()}, 300).failure("k").message();
    const std::string alone = replica.address().text();
    CHECK_THAT(message, Catch::Contains("no primary among store.redis.addresses (" + alone + ")") &&
                            Catch::Contains("name the primary, too") && Catch::Contains(alone + " is a slave"));
  }
  SECTION("a slot that nobody has, and a server without slots") {
    RedisServer alone({}, /*cluster=*/true);
    const std::string name_of_it = alone.address().text();
    const std::string empty = Bed({alone.address()}, 300).failure("k").message();
    CHECK_THAT(empty, Catch::Contains(name_of_it + ": no slot is assigned") && Catch::Contains("CLUSTER MEET"));
    REQUIRE(alone.ask({"CLUSTER", "ADDSLOTS", "0"}) == "OK\n");
    const std::string unowned = Bed({alone.address()}, 300).failure("k").message();
    CHECK_THAT(unowned, Catch::Contains(name_of_it + ": no server has slot " + std::to_string(redis_slot("k")) +
                                        "; bring its primary back"));
  }
  SECTION("a client that is closed") {
    Bed bed({server.address()}, 60'000);
    REQUIRE(bed.set("k", "1") == "OK");
    server.freeze();
    std::promise<std::string> told;
    RedisRequest one = request("k", {"GET", "k"});
    one.end = [&](const RedisAnswer& answer) { told.set_value(answer.status().message()); };
    REQUIRE(bed.client->begin(std::move(one)));
    bed.client.reset();
    server.unfreeze();
    CHECK_THAT(told.get_future().get(), Catch::Contains("the filter store on " + name + " is being closed") &&
                                            Catch::Contains("ask again"));
  }
  SECTION("an error reply") {
    Bed bed({server.address()});
    REQUIRE(server.ask({"RPUSH", "list", "1"}) == "1\n");
    const RedisAnswer answer = bed.client->call(request("list", {"GET", "list"}));
    REQUIRE(answer.ok());
    CHECK(answer->front().server() == name);
    CHECK_THAT(redis_failure(answer->front(), "GET list").message(), Catch::StartsWith(name + ": GET list: WRONGTYPE"));
  }
}
