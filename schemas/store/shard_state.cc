#include "schemas/store/shard_state.h"

#include "schemas/pieces/bytes.h"
#include "schemas/pieces/labelled_sum.h"

namespace bloomring {

namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kFixedBytes = 1 + 8 + 8 + 8 + 1;

}  // namespace

std::string encode_shard_state(const ShardState& state, std::string_view label, PartitionId partition,
                               uint32_t partition_count) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.u8(kVersion);
  writer.u64(state.writer.epoch);
  writer.u64(state.writer.random);
  writer.u64(state.writes);
  writer.u8(state.mark ? 1 : 0);
  if (state.mark) writer.raw(encode_watermark(*state.mark, partition, partition_count));
  append_labelled_sum(bytes, label);
  return bytes;
}

Result<ShardState> decode_shard_state(std::string_view bytes, std::string_view label, PartitionId partition,
                                      uint32_t partition_count) {
  const auto damaged = [&] { return corrupt("the state of " + std::string(label) + " is not one of ours"); };
  const auto body = split_labelled_sum(bytes, label);
  if (!body || body->size() < kFixedBytes) return damaged();
  ByteReader reader(*body);
  if (reader.u8() != kVersion) return invalid("the state of " + std::string(label) + " is of a newer program");
  ShardState state;
  state.writer.epoch = reader.u64();
  state.writer.random = reader.u64();
  state.writes = reader.u64();
  const uint8_t marked = reader.u8();
  if (marked > 1) return damaged();
  if (marked == 0) return reader.at_end() ? Result<ShardState>(state) : damaged();
  BLOOMRING_TRY_ASSIGN(state.mark, decode_watermark(reader.raw(reader.left()), partition, partition_count));
  return state;
}

}  // namespace bloomring
