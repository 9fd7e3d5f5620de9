#include "schemas/store/deletion_mark.h"

#include "schemas/pieces/bytes.h"
#include "schemas/pieces/labelled_sum.h"
#include "schemas/store_key.h"

namespace bloomring {

namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kBytes = 1 + sizeof(uint64_t) + kLabelledSumBytes;

}  // namespace

std::string encode_deletion_mark(int64_t since_ms, ShardId shard) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.u8(kVersion);
  writer.u64(static_cast<uint64_t>(since_ms));
  append_labelled_sum(bytes, deletion_mark_key(shard));
  return bytes;
}

Result<int64_t> decode_deletion_mark(std::string_view bytes, ShardId shard) {
  const std::string what = "deletion mark of shard " + std::to_string(shard.value);
  if (bytes.size() != kBytes) return corrupt(what + ": its length is wrong");
  const auto body = split_labelled_sum(bytes, deletion_mark_key(shard));
  if (!body) return corrupt(what + ": checksum differs");
  ByteReader reader(*body);
  const uint8_t version = reader.u8();
  const auto since_ms = static_cast<int64_t>(reader.u64());
  if (version != kVersion) return corrupt(what + ": format version " + std::to_string(version) + " is not known");
  if (since_ms < 0) return corrupt(what + ": its time is not possible");
  return since_ms;
}

}  // namespace bloomring
