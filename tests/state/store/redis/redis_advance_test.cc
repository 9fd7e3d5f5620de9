// An advance of a Redis store covers what the servers have, whatever becomes of its requests.
#include "state/store/redis/redis_advance.h"

#include <catch2/catch.hpp>

#include "tests/state/store/redis/redis_partition.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("redis store: a watermark that was sent before a time-out, and arrives late, replaces no newer one") {
  RedisBed bed;
  const PartitionId partition(0);
  const auto writer = take(bed.redis(), partition);
  REQUIRE(advance(*writer, merged_to(10)).ok());
  const auto owner = [&] { return bed.server().reply({"GET", bed.keys.owner(partition)}).bytes; };
  const std::string before = owner();
  REQUIRE(advance(*writer, merged_to(20)).ok());
  const std::string after = owner();
  REQUIRE(advance(*writer, merged_to(30)).ok());
  // The write of 20 again, as it lay in the buffer of a server that stood still.
  static_cast<void>(bed.server().ask({"EVAL", std::string(kCompareAndSet), "2", bed.keys.owner(partition),
                                      bed.keys.watermark(partition), before, after, "*",
                                      encode_watermark(merged_to(20), partition, kBedPartitions), ""}));
  CHECK(bed.redis().read_watermark(partition).value() == merged_to(30));
  CHECK(advance(*writer, merged_to(40)).ok());
}

TEST_CASE("redis store: a watermark whose answer was lost is written again, and its writer goes on") {
  RedisBed bed;
  const PartitionId partition(0);
  const auto writer = take(bed.redis(), partition);
  const std::string before = bed.server().reply({"GET", bed.keys.owner(partition)}).bytes;
  const auto state = decode_shard_state(before, "partition 0", partition, kBedPartitions).value();
  const ShardState counted{state.writer, {}, state.writes + 1};
  REQUIRE(bed.server().ask({"SET", bed.keys.owner(partition),
                            encode_shard_state(counted, "partition 0", partition, kBedPartitions)}) == "OK\n");
  REQUIRE(advance(*writer, merged_to(20)).ok());
  CHECK(bed.redis().read_watermark(partition).value() == merged_to(20));
}

TEST_CASE("redis store: no watermark is written before enough replicas have what it covers") {
  RedisBed bed;  // Without a replica.
  bed.min_replicas = 1;
  bed.reopen();
  const auto writer = take(bed.redis(), PartitionId(0));
  const Status status = advance(*writer, merged_to(10));
  CHECK(status.code() == Code::kRetry);
  CHECK_THAT(status.message(), Catch::Contains("0 of 1 replicas (store.redis.min_replicas)"));
  CHECK_FALSE(bed.redis().read_watermark(PartitionId(0)).value().has_value());
}
