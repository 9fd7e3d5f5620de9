// The state of a shard, next to the values of its users in the same cluster slot: their writer, and up to where
// the log is merged into them (the mark).
//
//   version:u8=1 epoch:u64 random:u64 writes:u64 marked:u8 watermark:raw sum:u64
//                 (pieces of schemas/pieces/bytes.h; `watermark` as schemas/watermark.h, where `marked` is 1; sum is
//                  XXH3 of all before it, seeded with the hash of the label)
//
// Fence: a take-over of a partition writes a new, larger writer into each of its shards; the script of every write
// compares the state with the one that the writer knows. So a writer that was replaced writes nothing.
//
// Count: every write adds one. A server that lost writes of this shard, as in a failover to a replica that was behind,
// has a smaller count than its writer knows, so the next write finds out. Without the count an advance would cover
// updates that the old primary had taken and the new one never had.
//
// Mark: an advance writes it into each shard before the watermark of the partition. A server replicates in order, so a
// replica, or a server that came back with older data, has the values that its marks cover. Reads fetch the mark with
// the values and refuse the answer when the mark is older than the watermark that they know. So a failover that lost
// writes is noticed where it happened, and the least mark says from where the log must be read again.
//
// Errors: kCorrupt for bytes that are not a state.
// Threading: values and pure functions.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "schemas/watermark.h"

namespace bloomring {

// The writer of a partition. A later take-over is larger.
struct RedisWriter {
  uint64_t epoch = 0;
  uint64_t random = 0;  // Tells two writers of one epoch apart, which a failover can make.
  auto operator<=>(const RedisWriter&) const = default;
};

struct ShardState {
  RedisWriter writer;
  std::optional<MergedWatermark> mark;
  uint64_t writes = 0;
  bool operator==(const ShardState&) const = default;
};

// `label` names the place of the state, such as "shard 17": a state elsewhere is none.
std::string encode_shard_state(const ShardState& state, std::string_view label, PartitionId partition,
                               uint32_t partition_count);
Result<ShardState> decode_shard_state(std::string_view bytes, std::string_view label, PartitionId partition,
                                      uint32_t partition_count);

}  // namespace bloomring
