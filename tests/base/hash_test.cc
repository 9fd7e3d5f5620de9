#include "base/hash.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace bloomring;

TEST_CASE("hash: seeds are part of the stored formats, so the values are golden") {
  CHECK(item_hash("v1").value == hash_bytes("v1", 0));
  CHECK(item_hash("").value == 0x2d06800538d394c2ULL);  // XXH3_64bits of no bytes, from the xxHash specification.
  CHECK((user_multiplier("u") & 1) == 1);
}

TEST_CASE("hash: items end to end have the hashes of each alone, whatever their length") {
  std::string items;
  std::string lengths;
  std::vector<ItemHash> expected;
  for (uint32_t length = 0; length <= 255; ++length) {
    const std::string item(length, static_cast<char>('a' + length % 26));
    items += item;
    lengths.push_back(static_cast<char>(length));
    expected.emplace_back(hash_bytes(item, 0));
    CHECK(item_hash(item) == expected.back());
  }
  std::vector<ItemHash> hashes(lengths.size());
  item_hashes(items, lengths, hashes.data());
  CHECK(hashes == expected);
}

TEST_CASE("hash: the partitions are contiguous ranges of shards without overlap or gap") {
  for (const uint32_t count : {1u, 4u, 10u, 50u, 5000u}) {
    int32_t last = 0;
    for (uint32_t shard = 0; shard < kShardCount; ++shard) {
      const int32_t partition = partition_of(ShardId(static_cast<uint16_t>(shard)), count).value;
      REQUIRE((partition == last || partition == last + 1));
      last = partition;
    }
    CHECK(last == static_cast<int32_t>(count) - 1);
  }
}
