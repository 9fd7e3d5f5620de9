// The verbs of tests of a Redis filter store: of one partition and its writer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/state/store/filter_store_beds.h"

namespace bloomring::testing {

using Blocking = BlockingFilterStore<RedisFilterStore>;

inline PartitionId partition_of_name(const std::string& name) {
  return partition_of(UserRef(user(name)).shard(), kBedPartitions);
}

inline MergedWatermark merged_to(int64_t offset) {
  MergedWatermark watermark;
  watermark.offset = Offset(offset);
  watermark.merged_ms = kNowMs;
  return watermark;
}

inline Status play(PartitionWriter& writer, const std::string& name, const std::vector<std::string>& items,
            int32_t period = kNow) {
  std::vector<ItemHash> hashes;
  for (const std::string& item : items) hashes.push_back(item_hash(item));
  const std::string key = user(name);
  const FilterUpdate update{key, PeriodIndex(period), hashes};
  writer.begin_apply({}, {&update, 1});
  return Blocking::wait(writer);
}

inline Status advance(PartitionWriter& writer, const MergedWatermark& watermark) {
  writer.begin_advance(watermark);
  return Blocking::wait(writer);
}

inline std::unique_ptr<PartitionWriter> take(RedisFilterStore& store, PartitionId partition) {
  auto writer = store.take_over(partition);
  REQUIRE(writer.status().to_string() == "ok");
  return std::move(*writer);
}

inline Result<StoredUser> read(RedisFilterStore& store, const std::string& name) {
  const PeriodIndex period(kNow);
  const std::string key = user(name);
  return read_now(store, key, {&period, 1});
}

}  // namespace bloomring::testing
