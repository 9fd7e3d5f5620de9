// Promises of a store on Redis servers beyond the law of every store (filter_store_test.cc): against other writers,
// failovers and moved slots.
#include "state/store/redis/redis_filter_store.h"

#include <pthread.h>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "base/faults/fault_point.h"
#include "tests/state/store/redis/redis_partition.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

// The number of threads of this process with the name.
size_t threads_named(const std::string& name) {
  size_t found = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string its_name;
    std::getline(std::ifstream(thread.path() / "comm"), its_name);
    found += its_name == name ? 1 : 0;
  }
  return found;
}

// Merges below 10 and then below 20. The state that the shard of u1 had in between, for a server that lost the rest.
struct EarlierShard {
  std::string key, state;
};
template <typename Writer>
EarlierShard merge_twice(RedisBed& bed, Writer& writer) {
  REQUIRE(advance(writer, merged_to(10)).ok());
  const std::string key = bed.keys.shard_state(UserRef(user("u1")).shard());
  const std::string state = bed.server().reply({"GET", key}).bytes;
  REQUIRE(advance(writer, merged_to(20)).ok());
  return {key, state};
}

// Installed at all fault points while it lives.
struct FaultHandler {
  explicit FaultHandler(std::function<void(std::string_view)> handler) { set_fault_handler(std::move(handler)); }
  ~FaultHandler() { set_fault_handler({}); }
};

}  // namespace

TEST_CASE("redis store: a store that is closed while a read is about to be asked again ends that read") {
  RedisBed bed;
  const PartitionId partition = partition_of_name("u1");
  const auto writer = take(bed.redis(), partition);
  const auto [key, old_state] = merge_twice(bed, *writer);
  REQUIRE(bed.server().ask({"SET", key, old_state}) == "OK\n");
  // A replica that is behind: the primary is asked next, by the next client in turn.
  bed.read_replicas = true;
  const std::string first_client = "redis-read-0";
  for (int before = 0; before < 4; ++before) {
    std::atomic<int> visits = 0;
    std::atomic<bool> asks_again = false;
    const size_t others = threads_named(first_client);
    const auto wait_for_first_client = [&](std::string_view point) {
      if (point != "store.read" || ++visits != before + 2) return;
      asks_again = true;
      std::array<char, 16> own_name{};
      REQUIRE(::pthread_getname_np(::pthread_self(), own_name.data(), own_name.size()) == 0);
      if (own_name.data() == first_client) return;
      wait_until_true("the first client to end", [&] { return threads_named(first_client) == others; });
    };
    const FaultHandler handler(wait_for_first_client);
    auto reader = bed.another(false);
    for (int i = 0; i < before; ++i) REQUIRE(read(*reader, "u" + std::to_string(100 + i)).ok());
    auto answer = std::async(std::launch::async, [&, &store = *reader] { return read(store, "u1").code(); });
    wait_until_true("another question", [&] { return asks_again.load(); });
    reader.reset();
    CHECK(answer.get() == Code::kRetry);
  }
}

TEST_CASE("redis store: a writer whose partition was taken over writes nothing, not even a watermark") {
  RedisBed bed;
  const PartitionId partition = partition_of_name("u1");
  const auto first = take(bed.redis(), partition);
  REQUIRE(play(*first, "u1", {"a"}).ok());
  const auto other = bed.another();
  const auto second = take(*other, partition);
  CHECK(play(*first, "u1", {"b"}).code() == Code::kFenced);
  CHECK(advance(*first, merged_to(10)).code() == Code::kFenced);
  CHECK(bed.seen("u1", kNow, {"a", "b"}) == "a");
  CHECK_FALSE(bed.redis().read_watermark(partition).value().has_value());
  CHECK(play(*second, "u1", {"c"}).ok());
  CHECK(advance(*second, merged_to(20)).ok());
  CHECK(bed.seen("u1", kNow, {"a", "b", "c"}) == "ac");
  // Partitions are taken over one by one.
  const auto elsewhere = take(bed.redis(), PartitionId((partition.value + 1) % 4));
  CHECK(play(*second, "u1", {"d"}).ok());
}

TEST_CASE("redis store: values are those of the embedded store, byte for byte") {
  RedisBed redis;
  EmbeddedBed embedded;
  for (Bed* bed : {static_cast<Bed*>(&redis), static_cast<Bed*>(&embedded)}) {
    for (int i = 0; i < 300; ++i) bed->play("u" + std::to_string(i % 7), kNow, {"v" + std::to_string(i * i % 101)});
    bed->forget_everything("u1", kNowMs, kNow - 2, kNow);
    REQUIRE(bed->store().advance(PartitionId(1), merged_to(7)).ok());
    bed->settle();
  }
  for (int u = 0; u < 7; ++u) {
    const std::string name = "u" + std::to_string(u);
    const std::string value = embedded.read(name, {kNow}).at(0).value;
    CHECK(redis.read(name, {kNow}).at(0).value == value);
    CHECK(redis.server().reply({"GET", redis.keys.filter(user(name), PeriodUnit::kMonth, PeriodIndex(kNow))}).bytes ==
          value);
  }
  CHECK(redis.forgotten("u1") == embedded.forgotten("u1"));
  CHECK(redis.server().reply({"GET", redis.keys.watermark(PartitionId(1))}).bytes ==
        encode_watermark(merged_to(7), PartitionId(1), kBedPartitions));
}

TEST_CASE("redis store: a filter expires at the server at the moment that the calendar gives") {
  RedisBed bed;
  bed.play("u1", kNow, {"a"});
  const std::string key = bed.keys.filter(user("u1"), PeriodUnit::kMonth, PeriodIndex(kNow));
  CHECK(bed.server().reply({"PEXPIRETIME", key}).integer ==
        bed.calendar.expires_at_ms(user_hash(user("u1")), PeriodIndex(kNow)));
  bed.forget_everything("u2", kNowMs, 0, 0);
  CHECK(bed.server().reply({"PEXPIRETIME", bed.keys.forgotten(user("u2"))}).integer ==
        bed.calendar.expires_at_ms(user_hash(user("u2")), bed.calendar.period_of_ms(kNowMs)));
  CHECK(bed.server().reply({"PEXPIRETIME", bed.keys.shard_state(UserRef(user("u1")).shard())}).integer == -1);
}

TEST_CASE("redis store: a server that lost writes is noticed where it lost them, and the watermark goes back") {
  RedisClusterBed bed(0);
  const PartitionId partition = partition_of_name("u1");
  const auto writer = take(bed.redis(), partition);
  const auto reader = bed.another(false);
  REQUIRE(play(*writer, "u1", {"a"}).ok());
  REQUIRE(advance(*writer, merged_to(10)).ok());
  // The values that the server of u1 has now.
  const ShardId shard = UserRef(user("u1")).shard();
  const std::string state_key = bed.keys.shard_state(shard);
  const std::string value_key = bed.keys.filter(user("u1"), PeriodUnit::kMonth, PeriodIndex(kNow));
  RedisServer& server = bed.cluster().primary(bed.cluster().primary_of(redis_slot(state_key)));
  const std::string old_state = server.reply({"GET", state_key}).bytes;
  const std::string old_value = server.reply({"GET", value_key}).bytes;
  REQUIRE(play(*writer, "u1", {"b"}).ok());
  REQUIRE(advance(*writer, merged_to(20)).ok());
  REQUIRE(reader->refresh().ok());
  REQUIRE(read(*reader, "u1").ok());
  // A failover to a replica that was behind.
  REQUIRE(server.ask({"SET", state_key, old_state}) == "OK\n");
  REQUIRE(server.ask({"SET", value_key, old_value}) == "OK\n");
  // No answer pretends to be complete.
  const auto answer = read(*reader, "u1");
  CHECK(answer.code() == Code::kRetry);
  CHECK_THAT(answer.status().message(), Catch::Contains("is behind its watermark"));
  CHECK(reader->parts().behind == 1);
  // The writer ends; its successor begins where every shard has everything.
  CHECK(play(*writer, "u1", {"c"}).code() == Code::kFatal);
  CHECK(advance(*writer, merged_to(30)).code() == Code::kFatal);
  CHECK(bed.redis().read_watermark(partition).value() == merged_to(10));
  const auto next = take(bed.redis(), partition);
  CHECK(bed.redis().read_watermark(partition).value() == merged_to(10));
  REQUIRE(reader->refresh().ok());
  CHECK(reader->heard_watermark(partition).value() == merged_to(10));
  // A stage of this process has released "b" and hears only later that the store went back.
  CHECK(read(*reader, "u1").code() == Code::kRetry);
  CHECK(read(*bed.another(false), "u1").ok());
  REQUIRE(play(*next, "u1", {"b"}).ok());
  REQUIRE(advance(*next, merged_to(20)).ok());
  CHECK(bed.seen("u1", kNow, {"a", "b"}) == "ab");
  CHECK(read(*reader, "u1").ok());
}

TEST_CASE("redis store: updates that a failover lost before any watermark covered them are never covered") {
  RedisBed bed;
  const PartitionId partition = partition_of_name("u1");
  const auto writer = take(bed.redis(), partition);
  REQUIRE(play(*writer, "u1", {"a"}).ok());
  const std::string state_key = bed.keys.shard_state(UserRef(user("u1")).shard());
  const std::string value_key = bed.keys.filter(user("u1"), PeriodUnit::kMonth, PeriodIndex(kNow));
  const std::string old_state = bed.server().reply({"GET", state_key}).bytes;
  const std::string old_value = bed.server().reply({"GET", value_key}).bytes;
  REQUIRE(play(*writer, "u1", {"b"}).ok());
  REQUIRE(bed.server().ask({"SET", state_key, old_state}) == "OK\n");
  REQUIRE(bed.server().ask({"SET", value_key, old_value}) == "OK\n");
  SECTION("an advance finds out") { CHECK(advance(*writer, merged_to(10)).code() == Code::kFatal); }
  SECTION("a sync finds out") {
    writer->begin_sync();
    CHECK(Blocking::wait(*writer).code() == Code::kFatal);
  }
  CHECK_FALSE(bed.redis().read_watermark(partition).value().has_value());
}

TEST_CASE("redis store: a shard that stays behind lowers the watermark for everybody who reads") {
  RedisBed bed;
  const PartitionId partition = partition_of_name("u1");
  const auto writer = take(bed.redis(), partition);
  const auto [key, old_state] = merge_twice(bed, *writer);
  const auto reader = bed.another(false);
  REQUIRE(bed.server().ask({"SET", key, old_state}) == "OK\n");
  CHECK(read(*reader, "u1").code() == Code::kRetry);
  REQUIRE(reader->refresh().ok());
  CHECK(reader->heard_watermark(partition).value() == merged_to(20));  // In doubt: an old primary may have answered.
  wait_until_true("the doubt to be settled", [&] {
    REQUIRE(reader->refresh().ok());
    return reader->heard_watermark(partition).value() == merged_to(10);
  });
  // Stages have released what was merged up to 20, and notice the lower watermark later.
  CHECK(read(*reader, "u1").code() == Code::kRetry);
}

TEST_CASE("redis store: a read has all that a watermark covered with which a stage began, though none was heard") {
  RedisBed bed;
  const PartitionId partition = partition_of_name("u1");
  const auto writer = take(bed.redis(), partition);
  REQUIRE(advance(*writer, merged_to(10)).ok());
  const std::string key = bed.keys.shard_state(UserRef(user("u1")).shard());
  const std::string old_state = bed.server().reply({"GET", key}).bytes;
  const auto reader = bed.another(false);
  REQUIRE(advance(*writer, merged_to(20)).ok());
  REQUIRE(reader->read_watermark(partition).value() == merged_to(20));
  REQUIRE(bed.server().ask({"SET", key, old_state}) == "OK\n");
  CHECK(read(*reader, "u1").code() == Code::kRetry);
}

TEST_CASE("redis store: a store whose owner's server lost writes is taken over all the same") {
  RedisBed bed;
  const PartitionId partition(2);
  take(bed.redis(), partition).reset();
  const std::string old_owner = bed.server().reply({"GET", bed.keys.owner(partition)}).bytes;
  for (int i = 0; i < 3; ++i) take(bed.redis(), partition).reset();
  REQUIRE(bed.server().ask({"SET", bed.keys.owner(partition), old_owner}) == "OK\n");
  const auto writer = take(bed.redis(), partition);
  CHECK(advance(*writer, merged_to(10)).ok());
  REQUIRE(bed.server().ask({"SET", bed.keys.owner(partition), old_owner}) == "OK\n");
  CHECK(advance(*writer, merged_to(20)).code() == Code::kFatal);
}

TEST_CASE("redis store: a take-over that died half-way leaves a partition that can be taken over") {
  RedisBed bed;
  const PartitionId partition(0);
  const auto first = take(bed.redis(), partition);
  REQUIRE(advance(*first, merged_to(10)).ok());
  // Of an advance to 20, half of the shards were marked when its process died.
  const auto second = take(bed.redis(), partition);
  REQUIRE(advance(*second, merged_to(20)).ok());
  REQUIRE(bed.server().ask({"SET", bed.keys.watermark(partition),
                            encode_watermark(merged_to(10), partition, kBedPartitions)}) == "OK\n");
  CHECK(bed.redis().read_watermark(partition).value() == merged_to(10));
  const auto third = take(bed.redis(), partition);
  CHECK(bed.redis().read_watermark(partition).value() == merged_to(10));
  REQUIRE(advance(*third, merged_to(20)).ok());
  CHECK(bed.redis().read_watermark(partition).value() == merged_to(20));
}

TEST_CASE("redis store: slots that move while it is written and read lose nothing and show nothing half") {
  RedisClusterBed bed(0);
  const PartitionId partition = partition_of_name("u1");
  const auto writer = take(bed.redis(), partition);
  const uint16_t slot = redis_slot(bed.keys.forgotten(user("u1")));
  const size_t from = bed.cluster().primary_of(slot);
  std::atomic<size_t> moves = 0, writes = 0;
  std::jthread mover([&](const std::stop_token& stop) {
    for (; moves < 4 && !stop.stop_requested(); ++moves) {
      bed.cluster().move_slot(slot, (from + moves) % 3, (from + moves + 1) % 3);
      wait_until_true("writes to the new owner", [&] { return stop.stop_requested() || writes > 3 * moves; });
    }
  });
  std::vector<std::string> items;
  std::string all;
  for (int i = 0; moves < 4 || i < 20; ++i) {
    items.push_back("v" + std::to_string(i) + ";");
    all += items.back();
    Status played = retry("not yet");
    wait_until_true("a write", [&] {
      return (played = play(*writer, "u1", {items.back()})).code() != Code::kRetry;
    });
    REQUIRE(played.to_string() == "ok");
    ++writes;
    const auto found = read(bed.redis(), "u1");
    if (!found.ok()) {
      REQUIRE(found.code() == Code::kRetry);
      continue;
    }
    REQUIRE(Bed::items_in(found->filters, "u1", {items.back()}) == items.back());
  }
  mover.join();
  wait_until_true("the slot to be read", [&] { return read(bed.redis(), "u1").ok(); });
  CHECK(bed.seen("u1", kNow, items) == all);
  CHECK(bed.redis().parts().traffic.redirects > 0);
}

TEST_CASE("redis store: replicas of both servers of a slot that is under way hide no filter") {
  RedisClusterBed bed;
  bed.read_replicas = true;
  bed.play("u1", kNow, {"a"});
  const uint16_t slot = redis_slot(bed.keys.forgotten(user("u1")));
  const size_t from = bed.cluster().primary_of(slot), to = (from + 1) % 3;
  const bool marked = GENERATE(true, false);  // Without a watermark, nothing tells that a replica lacks the state.
  if (marked) REQUIRE(bed.store().advance(partition_of_name("u1"), merged_to(10)).ok());
  RedisStoreConfig config = bed.config();
  config.timeout_ms = 200;  // A read of keys that lie on two servers ends without an answer.
  RedisFilterStore reader(config, bed.calendar, bed.clock, false);
  wait_until_true("the reader to begin", [&] { return reader.refresh().ok(); });
  wait_until_true("an answer", [&] { return read(reader, "u1").ok(); });
  size_t answered = 0;
  const auto check_reads = [&] {
    for (int i = 0; i < 8; ++i) {
      const auto found = read(reader, "u1");
      if (!found.ok()) {
        CHECK(found.code() == Code::kRetry);
        continue;
      }
      ++answered;
      CHECK(Bed::items_in(found->filters, "u1", {"a"}) == "a");
    }
  };
  bed.cluster().begin_move(slot, from, to);
  check_reads();
  // One key after the other leaves.
  for (int keys = 0; keys < 3; ++keys) {
    bed.cluster().move_keys(slot, from, to, 1);
    check_reads();
  }
  bed.cluster().end_move(slot, to);
  check_reads();
  wait_until_true("the slot to be read", [&] { return read(reader, "u1").ok(); });
  check_reads();
  CHECK(answered > 0);
}

TEST_CASE("redis store: a replica that lacks a moved filter hides it not, though it has one that the primary removed") {
  RedisBed bed;
  const RedisServer replica;
  bed.play("u1", kNow - 1, {"old"});
  bed.play("u1", kNow, {"new"});
  const auto key_of = [&](int32_t period) {
    return bed.keys.filter(user("u1"), PeriodUnit::kMonth, PeriodIndex(period));
  };
  for (const std::string& key : {bed.keys.shard_state(UserRef(user("u1")).shard()), key_of(kNow - 1)})
    REQUIRE(replica.ask({"SET", key, bed.server().reply({"GET", key}).bytes}) == "OK\n");
  REQUIRE(bed.server().ask({"DEL", key_of(kNow - 1)}) == "1\n");
  bed.play("u1", kNow, {"newer"});
  RedisStoreConfig config = bed.config();
  config.addresses.push_back(replica.address());
  config.read_replicas = true;
  RedisFilterStore reader(config, bed.calendar, bed.clock, false);
  REQUIRE(reader.refresh().ok());
  const PeriodIndex periods[] = {PeriodIndex(kNow - 1), PeriodIndex(kNow)};
  const std::string key = user("u1");
  const auto found = read_now(reader, key, periods);
  REQUIRE(found.ok());
  CHECK(Bed::items_in(found->filters, "u1", {"new", "newer"}) == "newnewer");
}

TEST_CASE("redis store: a primary that is killed loses nothing that a watermark covers") {
  RedisClusterBed bed;
  bed.min_replicas = 1;
  bed.reopen();
  const PartitionId partition = partition_of_name("u1");
  const size_t victim = bed.cluster().primary_of(redis_slot(bed.keys.forgotten(user("u1"))));
  std::vector<std::unique_ptr<PartitionWriter>> writers;
  for (int p = 0; p < static_cast<int>(kBedPartitions); ++p) writers.push_back(take(bed.redis(), PartitionId(p)));
  std::vector<std::string> names = {"u1"};
  for (int u = 2; u < 40; ++u) names.push_back("u" + std::to_string(u));
  for (const std::string& name : names)
    REQUIRE(play(*writers[static_cast<size_t>(partition_of_name(name).value)], name, {"a"}).ok());
  for (int p = 0; p < static_cast<int>(kBedPartitions); ++p)
    REQUIRE(advance(*writers[static_cast<size_t>(p)], merged_to(10)).ok());
  bed.cluster().primary(victim).kill_now();
  for (const std::string& name : names) {
    PartitionWriter& writer = *writers[static_cast<size_t>(partition_of_name(name).value)];
    Status played = retry("not yet");
    wait_until_true("a primary", [&] { return (played = play(writer, name, {"b"})).code() != Code::kRetry; });
    REQUIRE(played.to_string() == "ok");
  }
  CHECK(bed.redis().read_watermark(partition).value() == merged_to(10));
  for (const std::string& name : names) {
    // A server that has not heard of the new primary may still be asked for the topology, and name the old one.
    Result<StoredUser> found = retry("not yet");
    wait_until_true("a primary to be read", [&] { return (found = read(bed.redis(), name)).ok(); });
    CHECK(Bed::items_in(found->filters, name, {"a", "b"}) == "ab");
  }
}

TEST_CASE("redis store: of a server that is down nothing is answered, and one that comes back empty hides nothing") {
  RedisClusterBed bed(0);
  const PartitionId partition = partition_of_name("u1");
  const auto writer = take(bed.redis(), partition);
  REQUIRE(play(*writer, "u1", {"a"}).ok());
  REQUIRE(advance(*writer, merged_to(10)).ok());
  REQUIRE(bed.redis().refresh().ok());
  RedisServer& server = bed.cluster().primary(bed.cluster().primary_of(redis_slot(bed.keys.forgotten(user("u1")))));
  server.kill_now();
  CHECK(read(bed.redis(), "u1").code() == Code::kRetry);
  server.start();  // It has kept nothing.
  Result<StoredUser> found = retry("not yet");
  wait_until_true("the server to answer", [&] {
    found = read(bed.redis(), "u1");
    return found.ok() || found.status().message().find("is behind its watermark") != std::string::npos;
  });
  CHECK(found.code() == Code::kRetry);
  Status played = retry("not yet");
  wait_until_true("the writer to notice", [&] { return (played = play(*writer, "u1", {"b"})).code() != Code::kRetry; });
  CHECK(played.code() == Code::kFatal);
  std::unique_ptr<PartitionWriter> next;
  wait_until_true("the next writer", [&] {
    auto taken = bed.redis().take_over(partition);
    if (taken.ok()) next = std::move(*taken);
    return next != nullptr;
  });
  CHECK_FALSE(bed.redis().read_watermark(partition).value().has_value());
  REQUIRE(play(*next, "u1", {"a"}).ok());
  REQUIRE(advance(*next, merged_to(10)).ok());
  CHECK(bed.seen("u1", kNow, {"a"}) == "a");
}

TEST_CASE("redis store: a replica answers as far as it has what the watermark covers, otherwise the primary does") {
  RedisServer replica;
  RedisBed bed;
  REQUIRE(replica.ask({"REPLICAOF", "127.0.0.1", std::to_string(bed.server().address().port)}) == "OK\n");
  RedisStoreConfig config = bed.config();
  config.addresses.push_back(replica.address());
  config.read_replicas = true;
  RedisFilterStore reader(config, bed.calendar, bed.clock, false);
  const auto writer = take(bed.redis(), partition_of_name("u1"));
  REQUIRE(play(*writer, "u1", {"a"}).ok());
  REQUIRE(advance(*writer, merged_to(10)).ok());
  wait_until_true("replication", [&] {
    return replica.ask({"GET", bed.keys.watermark(partition_of_name("u1"))}) != "";
  });
  REQUIRE(reader.refresh().ok());
  const auto calls = [&] {
    const std::string stats = replica.ask({"INFO", "commandstats"});
    return stats.find("cmdstat_mget:calls=");
  };
  REQUIRE(calls() == std::string::npos);
  CHECK(read(reader, "u1").ok());
  CHECK(calls() != std::string::npos);
  // A slot that moves: the replica has its state, and this filter has left already, or has not come yet.
  const std::string key = bed.keys.filter(user("u1"), PeriodUnit::kMonth, PeriodIndex(kNow));
  REQUIRE(replica.ask({"CONFIG", "SET", "replica-read-only", "no"}) == "OK\n");
  REQUIRE(replica.ask({"DEL", key}) == "1\n");
  const auto moved = read(reader, "u1");
  REQUIRE(moved.ok());
  CHECK(Bed::items_in(moved->filters, "u1", {"a"}) == "a");
  // The replica stands still.
  REQUIRE(replica.ask({"REPLICAOF", "NO", "ONE"}) == "OK\n");
  REQUIRE(play(*writer, "u1", {"b"}).ok());
  REQUIRE(advance(*writer, merged_to(20)).ok());
  REQUIRE(reader.refresh().ok());
  const auto found = read(reader, "u1");
  REQUIRE(found.ok());
  CHECK(filter::summarize(found->filters.at(0).value, found->filters.at(0).store_key)->items == 2);
}

TEST_CASE("redis store: a frozen server gives retry, and what was applied meanwhile is there when it goes on") {
  RedisBed bed;
  const auto writer = take(bed.redis(), partition_of_name("u1"));
  bed.server().freeze();
  auto playing = std::async([&] { return play(*writer, "u1", {"a"}); });
  CHECK(read(bed.redis(), "u1").code() == Code::kRetry);
  bed.server().unfreeze();
  Status played = playing.get();
  while (played.code() == Code::kRetry) played = play(*writer, "u1", {"a"});
  CHECK(played.to_string() == "ok");
  CHECK(bed.seen("u1", kNow, {"a"}) == "a");
}

TEST_CASE("redis store: a partition that the store does not have, and a store opened for reading, are refused") {
  RedisBed bed;
  CHECK(bed.redis().take_over(PartitionId(4)).code() == Code::kInvalid);
  CHECK(bed.redis().read_watermark(PartitionId(-1)).code() == Code::kInvalid);
  CHECK(bed.another(false)->take_over(PartitionId(0)).code() == Code::kInvalid);
}
