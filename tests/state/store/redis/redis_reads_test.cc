// Reads that ask a second time, on real servers that stand still, die or lag. The other promises of reads are in
// redis_filter_store_test.cc.
#include "state/store/redis/redis_reads.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <future>

#include "tests/state/redis/odd_server.h"
#include "tests/state/store/redis/redis_partition.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

constexpr int64_t kLongMs = 60'000;  // No test waits as long: an answer does not come from the end of this time.

// A primary with a replica that is in step, and u1's first play, merged.
struct Pair {
  Pair() {
    REQUIRE(replica.ask({"REPLICAOF", "127.0.0.1", std::to_string(bed.server().address().port)}) == "OK\n");
    play_and_advance("a", 10);
    const std::vector<std::string> state = {"GET", state_key};
    wait_until_true("replication", [&] { return replica.ask(state) == bed.server().ask(state); });
  }
  void play_and_advance(const std::string& item, int64_t offset) {
    REQUIRE(play(*writer, "u1", {item}).ok());
    REQUIRE(advance(*writer, merged_to(offset)).ok());
  }
  void cut_replica_off() { REQUIRE(replica.ask({"REPLICAOF", "NO", "ONE"}) == "OK\n"); }
  RedisStoreConfig config(int64_t hedge_after_ms, uint32_t percent = 100) const {
    RedisStoreConfig made = bed.config();
    made.addresses.push_back(replica.address());
    made.timeout_ms = kLongMs;
    made.hedge_after_ms = hedge_after_ms;
    made.hedge_percent = percent;
    return made;
  }
  std::unique_ptr<RedisFilterStore> open(const RedisStoreConfig& made) const {
    auto store = std::make_unique<RedisFilterStore>(made, bed.calendar, bed.clock, false);
    REQUIRE(store->refresh().to_string() == "ok");
    // Each client asks for the servers' roles by itself, and none answers them while it stands still.
    for (uint32_t i = 0; i < made.connections; ++i) REQUIRE(read(*store, "u1").status().to_string() == "ok");
    return store;
  }

  RedisServer replica;
  RedisBed bed;
  const std::unique_ptr<PartitionWriter> writer = take(bed.redis(), partition_of_name("u1"));
  const std::string state_key = bed.keys.shard_state(UserRef(user("u1")).shard());
};

std::string items_of(const Result<StoredUser>& found) {
  if (!found.ok()) return std::string(code_name(found.code()));
  return Bed::items_in(found->filters, "u1", {"a", "b"});
}

const RedisHedges& hedges(const RedisFilterStore& store) { return store.parts().hedges; }

// The hedges since then whose answer came first.
struct Firsts {
  explicit Firsts(const RedisFilterStore& store) : of(hedges(store)), before(of.first()) {}
  uint64_t since() const { return of.first() - before; }
  const RedisHedges& of;
  const uint64_t before;
};

}  // namespace

TEST_CASE("redis reads: a replica answers for a primary that stands still, also for filters that are not there") {
  Pair pair;
  const auto reader = pair.open(pair.config(20));
  const Firsts firsts(*reader);
  pair.bed.server().freeze();
  CHECK(items_of(read(*reader, "u1")) == "a");
  CHECK(firsts.since() == 1);
  // In the same partition as u1, and never merged: only the number of keys says that it has no filter.
  std::string other = "n0";
  for (int i = 1; partition_of_name(other) != partition_of_name("u1"); ++i) other = "n" + std::to_string(i);
  const auto nothing = read(*reader, other);
  REQUIRE(nothing.status().to_string() == "ok");
  CHECK(nothing->filters.empty());
  CHECK(firsts.since() == 2);
  // The late answers to the first questions go nowhere.
  pair.bed.server().unfreeze();
  CHECK(items_of(read(*reader, "u1")) == "a");
}

TEST_CASE("redis reads: the primary answers for a replica that stands still") {
  Pair pair;
  RedisStoreConfig config = pair.config(20);
  config.read_replicas = true;
  const auto reader = pair.open(config);
  const Firsts firsts(*reader);
  pair.replica.freeze();
  CHECK(items_of(read(*reader, "u1")) == "a");
  CHECK(firsts.since() == 1);
  pair.replica.unfreeze();
  CHECK(items_of(read(*reader, "u1")) == "a");
}

TEST_CASE("redis reads: a replica that is asked first answers alone where the primary stands still") {
  Pair pair;
  RedisStoreConfig config = pair.config(20);
  config.read_replicas = true;
  const auto reader = pair.open(config);
  const Firsts firsts(*reader);
  pair.bed.server().freeze();
  CHECK(items_of(read(*reader, "u1")) == "a");
  CHECK(firsts.since() == 1);
  pair.bed.server().unfreeze();
}

TEST_CASE("redis reads: the answer of a replica that lags is not taken, however late the primary is") {
  Pair pair;
  pair.cut_replica_off();
  pair.play_and_advance("b", 20);
  const auto reader = pair.open(pair.config(20));
  const uint64_t behind = hedges(*reader).behind();
  pair.bed.server().freeze();
  auto answer = std::async(std::launch::async, [&] { return read(*reader, "u1"); });
  wait_until_true("the replica's answer", [&] { return hedges(*reader).behind() > behind; });
  pair.bed.server().unfreeze();
  CHECK(items_of(answer.get()) == "ab");
  CHECK(hedges(*reader).first() == 0);
  // It is no sign of lost writes.
  CHECK(reader->parts().behind == 0);
}

TEST_CASE("redis reads: a replica that the reader's own watermark is newer than does not answer") {
  Pair pair;
  pair.cut_replica_off();
  const auto reader = pair.open(pair.config(20));
  pair.play_and_advance("b", 20);
  // Heard between two refreshes: what any stage of the process may have released plays by.
  REQUIRE(reader->read_watermark(partition_of_name("u1")).value() == merged_to(20));
  pair.bed.server().freeze();
  auto answer = std::async(std::launch::async, [&] { return read(*reader, "u1"); });
  wait_until_true("the replica's answer", [&] { return hedges(*reader).behind() == 1; });
  pair.bed.server().unfreeze();
  CHECK(items_of(answer.get()) == "ab");
}

TEST_CASE("redis reads: a value of another type at a replica is not taken for a filter that is not there") {
  Pair pair;
  const auto reader = pair.open(pair.config(20));
  const std::string key = pair.bed.keys.filter(user("u1"), PeriodUnit::kMonth, PeriodIndex(kNow));
  REQUIRE(pair.replica.ask({"CONFIG", "SET", "replica-read-only", "no"}) == "OK\n");
  REQUIRE(pair.replica.ask({"DEL", key}) == "1\n");
  REQUIRE(pair.replica.ask({"LPUSH", key, "x"}) == "1\n");
  REQUIRE(pair.replica.ask({"CONFIG", "RESETSTAT"}) == "OK\n");
  pair.bed.server().freeze();
  auto answer = std::async(std::launch::async, [&] { return read(*reader, "u1"); });
  wait_until_true("the replica's answer", [&] {
    return pair.replica.ask({"INFO", "commandstats"}).find("cmdstat_exists") != std::string::npos;
  });
  pair.bed.server().unfreeze();
  CHECK(items_of(answer.get()) == "a");
}

TEST_CASE("redis reads: a primary that is down is answered for at once, and outside of the bound") {
  Pair pair;
  const auto reader = pair.open(pair.config(kLongMs - 1, 1));
  pair.bed.server().kill_now();
  for (int i = 0; i < 20; ++i) REQUIRE(items_of(read(*reader, "u1")) == "a");
  CHECK(hedges(*reader).asked() == 0);
}

TEST_CASE("redis reads: no more than the configured share is asked twice, and the others wait for the first answer") {
  Pair pair;
  const auto reader = pair.open(pair.config(200, 5));
  for (int i = 4; i < 50; ++i) REQUIRE(items_of(read(*reader, "u1")) == "a");  // Four have opened the reader.
  pair.bed.server().freeze();
  std::vector<std::future<Result<StoredUser>>> answers;
  for (int i = 0; i < 9; ++i) answers.push_back(std::async(std::launch::async, [&] { return read(*reader, "u1"); }));
  wait_until_true("all to be late", [&] { return hedges(*reader).asked() + hedges(*reader).withheld() >= 9; });
  CHECK(hedges(*reader).asked() == 2);
  pair.bed.server().unfreeze();
  for (auto& answer : answers) CHECK(items_of(answer.get()) == "a");
}

TEST_CASE("redis reads: without a replica the second question goes to the same server, over another connection") {
  RedisBed bed;
  const auto writer = take(bed.redis(), partition_of_name("u1"));
  REQUIRE(play(*writer, "u1", {"a"}).ok());
  REQUIRE(advance(*writer, merged_to(10)).ok());
  std::atomic<bool> stalls = false;  // The next MGET: the start asks one, too.
  std::promise<void> go_on;
  const std::shared_future<void> may_answer = go_on.get_future().share();
  {
    const OddServer slow(bed.server(), [&](const OddServer::Words& words) -> std::optional<std::string> {
      if (words[0] == "MGET" && stalls.exchange(false)) may_answer.wait();
      return std::nullopt;
    });
    RedisStoreConfig config = bed.config();
    config.addresses = {slow.address()};
    config.timeout_ms = kLongMs;
    config.hedge_after_ms = 20;
    config.hedge_percent = 100;
    RedisFilterStore reader(config, bed.calendar, bed.clock, false);
    REQUIRE(reader.refresh().to_string() == "ok");
    stalls = true;
    const auto found = read(reader, "u1");
    go_on.set_value();
    CHECK(items_of(found) == "a");
    CHECK(hedges(reader).first() == 1);
  }
}

TEST_CASE("redis reads: without hedge_after_ms no question is asked twice") {
  Pair pair;
  RedisStoreConfig config = pair.config(0);
  config.timeout_ms = 300;
  const auto reader = pair.open(config);
  pair.bed.server().freeze();
  CHECK(items_of(read(*reader, "u1")) == "retry");
  CHECK(hedges(*reader).asked() + hedges(*reader).withheld() == 0);
  CHECK(pair.replica.ask({"INFO", "commandstats"}).find("cmdstat_mget") == std::string::npos);
  pair.bed.server().unfreeze();
}

TEST_CASE("redis reads: in a cluster a replica that lacks a filter is not taken, as the slot may move") {
  RedisClusterBed bed;
  bed.play("u1", kNow, {"a"});
  const uint16_t slot = redis_slot(bed.keys.forgotten(user("u1")));
  const size_t from = bed.cluster().primary_of(slot), to = (from + 1) % 3;
  RedisStoreConfig config = bed.config();
  config.timeout_ms = 400;
  config.hedge_after_ms = 20;
  config.hedge_percent = 100;
  RedisFilterStore reader(config, bed.calendar, bed.clock, false);
  wait_until_true("the reader to begin", [&] { return reader.refresh().ok(); });
  wait_until_true("an answer", [&] { return read(reader, "u1").ok(); });
  bed.cluster().begin_move(slot, from, to);
  RedisServer& primary = bed.cluster().primary(from);
  for (int keys = 0; keys < 3; ++keys) {
    // Shorter than the time after which the cluster would make the replica a primary.
    primary.freeze();
    const std::string found = items_of(read(reader, "u1"));
    primary.unfreeze();
    CHECK((found == "retry" || found == "a"));
    bed.cluster().move_keys(slot, from, to, 1);
    const std::vector<std::string> count = {"CLUSTER", "COUNTKEYSINSLOT", std::to_string(slot)};
    RedisServer& replica = bed.cluster().replica(from);
    wait_until_true("the replica to follow", [&] { return replica.ask(count) == primary.ask(count); });
  }
  CHECK(hedges(reader).asked() > 0);
}
