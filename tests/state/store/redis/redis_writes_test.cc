// A writer of a Redis store loses nothing to other writers, lost or late requests, full servers, or values of other
// programs.
#include "state/store/redis/redis_writes.h"

#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "schemas/damaged_value.h"
#include "tests/state/store/redis/redis_partition.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

// The keys under which values of other programs are kept.
std::vector<std::string> asides(RedisBed& bed) {
  std::vector<std::string> found;
  for (const RedisReply& key : bed.server().reply({"KEYS", "*"}).elements)
    if (bed.keys.is_aside(key.bytes)) found.push_back(key.bytes);
  return found;
}

}  // namespace

TEST_CASE("redis store: two that both believe to own a partition lose nothing") {
  RedisBed bed;
  const auto other = bed.another();
  const PartitionId partition = partition_of_name("u1");
  // Each takes the partition back whenever it is fenced, and plays its own items for the same user.
  const auto play_all = [&](RedisFilterStore& store, char name) {
    std::unique_ptr<PartitionWriter> writer;
    for (int i = 0; i < 40; ++i) {
      while (true) {
        if (!writer) {
          auto taken = store.take_over(partition);
          if (!taken.ok()) continue;
          writer = std::move(*taken);
        }
        const Status played = play(*writer, "u1", {name + std::to_string(i)});
        if (played.ok()) break;
        if (played.code() == Code::kFenced) writer.reset();
      }
    }
  };
  std::thread one([&] { play_all(bed.redis(), 'a'); });
  play_all(*other, 'b');
  one.join();
  std::vector<std::string> items;
  std::string all;
  for (const char name : {'a', 'b'}) {
    for (int i = 0; i < 40; ++i) {
      items.push_back(name + std::to_string(i));
      all += items.back();
    }
  }
  CHECK(bed.seen("u1", kNow, items) == all);
}

TEST_CASE("redis store: a value that changes between read and write is read and united again") {
  RedisBed bed;
  const PartitionId partition = partition_of_name("u1");
  const auto writer = take(bed.redis(), partition);
  REQUIRE(play(*writer, "u1", {"first"}).ok());
  // The fence is held, and yet somebody restores two older values under the key in turn.
  const std::string key = bed.keys.filter(user("u1"), PeriodUnit::kMonth, PeriodIndex(kNow));
  const std::string older = bed.server().reply({"GET", key}).bytes;
  REQUIRE(play(*writer, "u1", {"second"}).ok());
  const std::string old = bed.server().reply({"GET", key}).bytes;
  std::atomic<bool> stop = false;
  std::thread disturber([&] {
    for (bool turn = false; !stop; turn = !turn) static_cast<void>(bed.server().ask({"SET", key, turn ? older : old}));
  });
  const auto tries = [&] { return bed.redis().parts().conflicts.load(); };
  for (int i = 0; i < 5000 && tries() == 0; ++i) {
    const Status played = play(*writer, "u1", {"v" + std::to_string(i)});
    REQUIRE((played.ok() || played.code() == Code::kRetry));
  }
  stop = true;
  disturber.join();
  CHECK(tries() > 0);
  REQUIRE(play(*writer, "u1", {"last"}).ok());
  CHECK(bed.seen("u1", kNow, {"first", "last"}) == "firstlast");
}

TEST_CASE("redis store: what is applied again is not written again") {
  RedisBed bed;
  bed.play("u1", kNow, {"a", "b"});
  const uint64_t written = bed.redis().parts().bytes_written;
  bed.play("u1", kNow, {"b", "a"});
  CHECK(bed.redis().parts().bytes_written == written);
  CHECK(bed.redis().parts().unchanged == 1);
}

TEST_CASE("redis store: a server that was replaced, and does not know it, is not believed to have a play already") {
  RedisBed bed;
  const auto writer = take(bed.redis(), partition_of_name("u1"));
  const std::string state_key = bed.keys.shard_state(UserRef(user("u1")).shard());
  REQUIRE(play(*writer, "u1", {"a"}).ok());
  const std::string old_state = bed.server().reply({"GET", state_key}).bytes;
  REQUIRE(play(*writer, "u1", {"b"}).ok());
  // The values of a server that has them still, and a state that is not the writer's.
  REQUIRE(bed.server().ask({"SET", state_key, old_state}) == "OK\n");
  CHECK(play(*writer, "u1", {"b"}).code() == Code::kFatal);
}

TEST_CASE("redis store: a server that was replaced, and does not know it, tells no watermark to begin at") {
  RedisBed bed;
  const PartitionId partition = partition_of_name("u1");
  const std::string state_key = bed.keys.shard_state(UserRef(user("u1")).shard());
  const std::string watermark_key = bed.keys.watermark(partition);
  const auto first = take(bed.redis(), partition);
  REQUIRE(advance(*first, merged_to(10)).ok());
  const std::string lost_state = bed.server().reply({"GET", state_key}).bytes;
  REQUIRE(advance(*first, merged_to(20)).ok());
  const std::string state = bed.server().reply({"GET", state_key}).bytes;
  const std::string watermark = bed.server().reply({"GET", watermark_key}).bytes;
  REQUIRE(bed.server().ask({"SET", state_key, lost_state}) == "OK\n");  // As after a failover.
  const auto second = take(bed.redis(), partition);
  CHECK(bed.redis().read_watermark(partition).value() == merged_to(10));
  // The reads still go to the server from before.
  REQUIRE(bed.server().ask({"SET", state_key, state}) == "OK\n");
  REQUIRE(bed.server().ask({"SET", watermark_key, watermark}) == "OK\n");
  CHECK(bed.redis().read_watermark(partition).code() == Code::kRetry);
}

TEST_CASE("redis store: a value of another program under our key is kept aside and counted, and reads as corrupt") {
  RedisBed bed;
  bed.play("u1", kNow, {"a"});
  const std::string key = bed.keys.filter(user("u1"), PeriodUnit::kMonth, PeriodIndex(kNow));
  SECTION("a string") {
    REQUIRE(bed.server().ask({"SET", key, "of another"}) == "OK\n");
    bed.play("u1", kNow, {"b"});
    CHECK(bed.server().ask({"GET", asides(bed).at(0)}) == "of another\n");
    CHECK(is_damaged(bed.server().reply({"GET", key}).bytes));
    CHECK(read(bed.redis(), "u1").code() == Code::kCorrupt);
  }
  SECTION("a list") {
    REQUIRE(bed.server().ask({"DEL", key}) == "1\n");
    REQUIRE(bed.server().ask({"RPUSH", key, "of", "another"}) == "2\n");
    bed.play("u1", kNow, {"b"});
    CHECK(bed.server().ask({"LRANGE", asides(bed).at(0), "0", "-1"}) == "of\nanother\n");
    CHECK(bed.seen("u1", kNow, {"a", "b"}) == "b");
  }
  CHECK(bed.redis().stats().refused == 1);
  CHECK(bed.redis().parts().put_aside == 1);
  const auto check = bed.redis().check({});
  REQUIRE(check.ok());
  CHECK_FALSE(check->sound());
}

TEST_CASE("redis store: a second value of another program under the same key takes no place of the first one") {
  RedisBed bed;
  const std::string key = bed.keys.filter(user("u1"), PeriodUnit::kMonth, PeriodIndex(kNow));
  for (const char* const value : {"one", "two"}) {
    REQUIRE(bed.server().ask({"SET", key, value}) == "OK\n");
    bed.play("u1", kNow, {"a"});
    bed.server().ask({"DEL", key});
    REQUIRE(bed.server().ask({"RPUSH", key, value}) == "1\n");
    bed.play("u1", kNow, {"a"});
  }
  std::multiset<std::string> kept;
  for (const std::string& aside : asides(bed))
    kept.insert(bed.server().ask({"TYPE", aside}) == "list\n" ? bed.server().ask({"LRANGE", aside, "0", "-1"})
                                                              : bed.server().ask({"GET", aside}));
  CHECK(kept == std::multiset<std::string>{"one\n", "one\n", "two\n", "two\n"});
  CHECK(bed.redis().parts().put_aside == 4);
}

TEST_CASE("redis store: a forget removes filters, and keeps what another program wrote under their keys") {
  RedisBed bed;
  bed.play("u1", kNow, {"a"});
  const std::string key = bed.keys.filter(user("u1"), PeriodUnit::kMonth, PeriodIndex(kNow - 1));
  REQUIRE(bed.server().ask({"RPUSH", key, "of", "another"}) == "2\n");
  bed.forget_everything("u1", kNowMs, kNow - 2, kNow + 1);
  CHECK(bed.server().ask({"EXISTS", key}) == "0\n");
  CHECK(bed.server().ask({"LRANGE", asides(bed).at(0), "0", "-1"}) == "of\nanother\n");
  CHECK(bed.seen("u1", kNow, {"a"}) == "");
  CHECK(bed.redis().parts().put_aside == 1);
}

TEST_CASE("redis store: a value of no bytes under our key is no filter, and keeps no update from being written") {
  RedisBed bed;
  bed.play("u1", kNow, {"a"});
  const std::string filter = bed.keys.filter(user("u1"), PeriodUnit::kMonth, PeriodIndex(kNow));
  const std::string forgotten = bed.keys.forgotten(user("u1"));
  SECTION("a filter") {
    REQUIRE(bed.server().ask({"SET", filter, ""}) == "OK\n");
    const auto stored = read(bed.redis(), "u1");
    REQUIRE(stored.ok());
    filter::Query query;
    CHECK_FALSE(query.add(stored->filters.at(0).value, stored->filters.at(0).store_key).ok());
    bed.play("u1", kNow, {"b"});
    CHECK(is_damaged(bed.server().reply({"GET", filter}).bytes));
    CHECK(read(bed.redis(), "u1").code() == Code::kCorrupt);  // It had a filter of ours.
    CHECK(bed.redis().stats().refused == 1);
  }
  SECTION("a forgotten value") {
    REQUIRE(bed.server().ask({"SET", forgotten, ""}) == "OK\n");
    CHECK(read(bed.redis(), "u1").code() == Code::kCorrupt);
    bed.forget_everything("u1", kNowMs, kNow, kNow + 1);
    CHECK(bed.seen("u1", kNow, {"a"}) == "");
  }
}

TEST_CASE("redis store: what is no string under a key that is not a user's is left alone, and the error names it") {
  RedisBed bed;
  const PartitionId partition = partition_of_name("u1");
  const auto writer = take(bed.redis(), partition);
  REQUIRE(advance(*writer, merged_to(10)).ok());
  const std::string keys[] = {bed.keys.shard_state(UserRef(user("u1")).shard()), bed.keys.owner(partition),
                              bed.keys.watermark(partition)};
  const std::string& key = keys[GENERATE(0, 1, 2)];
  REQUIRE(bed.server().ask({"DEL", key}) == "1\n");
  REQUIRE(bed.server().ask({"RPUSH", key, "of", "another"}) == "2\n");
  for (const Status& status : {advance(*writer, merged_to(20)), bed.redis().take_over(partition).status()}) {
    CHECK(status.code() == Code::kCorrupt);
    CHECK_THAT(status.message(), Catch::Contains(key) && Catch::Contains("rename or remove"));
  }
  CHECK(bed.server().ask({"LRANGE", key, "0", "-1"}) == "of\nanother\n");
  const PartitionId other((partition.value + 1) % 4);
  const auto another = bed.another();
  const auto writer_of_other = take(*another, other);
  REQUIRE(advance(*writer_of_other, merged_to(30)).ok());
  static_cast<void>(bed.redis().refresh());
  CHECK(bed.redis().heard_watermark(other).value() == merged_to(30));
  const auto heard = bed.redis().heard_watermark(partition);
  CHECK((heard.code() == Code::kCorrupt || heard.value() == merged_to(10)));
}

TEST_CASE("redis store: a value that is no string, under any key of a user, makes the user's answers incomplete") {
  RedisBed bed;
  bed.play("u1", kNow, {"a"});
  const bool filter = GENERATE(true, false);
  const std::string key = filter ? bed.keys.filter(user("u1"), PeriodUnit::kMonth, PeriodIndex(kNow))
                                 : bed.keys.forgotten(user("u1"));
  REQUIRE(bed.server().ask({"DEL", key}) == (filter ? "1\n" : "0\n"));
  REQUIRE(bed.server().ask({"RPUSH", key, "of", "another"}) == "2\n");
  CHECK(read(bed.redis(), "u1").code() == Code::kCorrupt);
  CHECK(read(bed.redis(), "u2").ok());
  REQUIRE(bed.server().ask({"DEL", key}) == "1\n");
  CHECK(read(bed.redis(), "u1").ok());
}

TEST_CASE("redis store: a server without room takes no updates, loses none, and goes on when it has room") {
  RedisBed bed;
  const auto writer = take(bed.redis(), partition_of_name("u1"));
  REQUIRE(play(*writer, "u1", {"a"}).ok());
  REQUIRE(bed.server().ask({"CONFIG", "SET", "maxmemory", "1"}) == "OK\n");
  const Status full = play(*writer, "u1", {"b"});
  CHECK(full.code() == Code::kRetry);
  CHECK_THAT(full.message(), Catch::Contains("OOM") && Catch::Contains("give it room"));
  CHECK(bed.seen("u1", kNow, {"a", "b"}) == "a");
  REQUIRE(bed.server().ask({"CONFIG", "SET", "maxmemory", "0"}) == "OK\n");
  CHECK(play(*writer, "u1", {"b"}).ok());
  CHECK(bed.seen("u1", kNow, {"a", "b"}) == "ab");
}

TEST_CASE("redis store: one advance of a heavy user's filters writes each once, whatever their size") {
  RedisBed bed;
  const auto writer = take(bed.redis(), partition_of_name("u1"));
  std::vector<std::string> items;
  for (int i = 0; i < 20'000; ++i) items.push_back("v" + std::to_string(i));
  for (size_t at = 0; at < items.size(); at += 2'500)
    REQUIRE(play(*writer, "u1", {items.begin() + static_cast<std::ptrdiff_t>(at),
                                 items.begin() + static_cast<std::ptrdiff_t>(at + 2'500)}).ok());
  const auto found = read(bed.redis(), "u1");
  REQUIRE(found.ok());
  const auto summary = filter::summarize(found->filters.at(0).value, found->filters.at(0).store_key);
  CHECK(summary->items > 19'900);
}

TEST_CASE("redis store: a writer that is in debt begins no write, reads go on, and closing it ends the wait") {
  RedisBed bed;
  bed.write_bytes_per_second = 1;  // Of the installation: the first write is paid for in minutes.
  const auto paced = bed.another();
  const auto writer = take(*paced, partition_of_name("u1"));
  REQUIRE(play(*writer, "u1", {"a"}).ok());
  const auto evals = [&] {
    const std::string stats = bed.server().ask({"INFO", "commandstats"});
    const size_t at = stats.find("cmdstat_eval:calls=");
    return stats.substr(at, stats.find(',', at) - at);
  };
  const std::string before = evals();
  const std::string key = user("u1");
  const ItemHash item = item_hash("b");
  const FilterUpdate update{key, PeriodIndex(kNow), {&item, 1}};
  writer->begin_apply({}, {&update, 1});
  for (int i = 0; i < 1000; ++i) REQUIRE_FALSE(writer->poll());
  CHECK(read(*paced, "u1").ok());
  CHECK(bed.seen("u1", kNow, {"a", "b"}) == "a");
  CHECK(evals() == before);
  CHECK(paced->parts().pace.under_way() == 0);
}

TEST_CASE("redis store: a partition whose server stands still keeps no other partition from writing") {
  RedisClusterBed bed(0);
  const PartitionId healthy = partition_of_name("u1");
  const size_t frozen = (bed.cluster().primary_of(redis_slot(bed.keys.forgotten(user("u1")))) + 1) % 3;
  // More users of another partition, each of another shard of the server that stands still, than the window has places.
  std::vector<std::string> keys;
  std::set<ShardId> shards;
  const PartitionId stuck((healthy.value + 1) % 4);
  for (int i = 0; keys.size() < 2 * RedisPace::kWindowFirst; ++i) {
    const std::string name = "s" + std::to_string(i), key = user(name);
    if (partition_of_name(name) != stuck || !shards.insert(UserRef(key).shard()).second) continue;
    if (bed.cluster().primary_of(redis_slot(bed.keys.forgotten(key))) == frozen) keys.push_back(key);
  }
  const auto store = bed.another();
  const auto writer = take(*store, healthy), stuck_writer = take(*store, stuck);
  const ItemHash item = item_hash("a");
  std::vector<FilterUpdate> updates;
  for (const std::string& key : keys) updates.push_back({key, PeriodIndex(kNow), {&item, 1}});
  bed.cluster().primary(frozen).freeze();
  stuck_writer->begin_apply({}, updates);
  CHECK(play(*writer, "u1", {"a"}).to_string() == "ok");
  CHECK_FALSE(stuck_writer->poll());
  bed.cluster().primary(frozen).unfreeze();
  CHECK(Blocking::wait(*stuck_writer).to_string() == "ok");
}

TEST_CASE("redis store: writes that wait for their pace are all written, by several writers") {
  RedisBed bed;
  bed.write_bytes_per_second = 40'000;
  const auto paced = bed.another();
  BlockingFilterStore<RedisFilterStore> store(*paced, kBedPartitions);
  std::vector<std::string> keys;
  std::vector<FilterUpdate> updates;
  for (int i = 0; i < 200; ++i) keys.push_back(user("u" + std::to_string(i)));
  const ItemHash item = item_hash("a");
  for (const std::string& key : keys) updates.push_back({key, PeriodIndex(kNow), {&item, 1}});
  REQUIRE(store.apply({}, updates).to_string() == "ok");
  for (int i = 0; i < 200; ++i) REQUIRE(bed.seen("u" + std::to_string(i), kNow, {"a"}) == "a");
  CHECK(paced->parts().pace.under_way() == 0);
}
