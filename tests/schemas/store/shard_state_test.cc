#include "schemas/store/shard_state.h"

#include <catch2/catch.hpp>

#include "base/hash.h"
#include "schemas/pieces/bytes.h"
#include "tests/schemas/documented_example.h"
#include "tests/schemas/store/merged.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("shard state: what was encoded is decoded, under its own label and partition alone") {
  for (const ShardState& state : {ShardState{{1, 2}, {}, 0}, ShardState{{7, ~0ULL}, merged(50, {range(60, 70)}), 99}}) {
    const std::string bytes = encode_shard_state(state, "shard 3", PartitionId(1), 4);
    CHECK(decode_shard_state(bytes, "shard 3", PartitionId(1), 4).value() == state);
    CHECK(decode_shard_state(bytes, "shard 4", PartitionId(1), 4).code() == Code::kCorrupt);
    if (state.mark) CHECK_FALSE(decode_shard_state(bytes, "shard 3", PartitionId(2), 4).ok());
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
      CHECK_FALSE(decode_shard_state(damaged, "shard 3", PartitionId(1), 4).ok());
      CHECK_FALSE(decode_shard_state(bytes.substr(0, i), "shard 3", PartitionId(1), 4).ok());
    }
  }
}

TEST_CASE("shard state: whether it has a mark is said by 0 or 1 alone") {
  std::string bytes = encode_shard_state({{1, 2}, {}, 0}, "shard 3", PartitionId(1), 4);
  bytes.resize(bytes.size() - 8);
  bytes.back() = 2;
  ByteWriter(bytes).u64(hash_bytes(bytes, hash_bytes("shard 3", 0)));
  CHECK(decode_shard_state(bytes, "shard 3", PartitionId(1), 4).code() == Code::kCorrupt);
}

TEST_CASE("shard state: its bytes are those of the document") {
  MergedWatermark mark;
  mark.offset = Offset(1000);
  mark.hour = HourIndex(458143);
  mark.merged_ms = 458146LL * 3'600'000;
  mark.slot_ms = 3'600'000;
  const ShardState state{{3, 0x0102030405060708}, mark, 12};
  CHECK(hex(encode_shard_state(state, "shard 17", PartitionId(0), 50)) ==
        hex(documented_example("Shard state, version 1")));
}
