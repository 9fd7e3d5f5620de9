#include "state/store_meta.h"

#include "base/hash.h"
#include "schemas/bytes.h"
#include "schemas/store_key.h"

namespace bloomring {

namespace {

constexpr uint8_t kVersion = 1;

uint64_t checksum_of(std::string_view body) { return hash_bytes(body, hash_bytes(kMetaKey, 0)); }

}  // namespace

std::string encode_store_meta(uint32_t partition_count) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.u8(kVersion);
  writer.u32(partition_count);
  writer.u64(checksum_of(bytes));
  return bytes;
}

Status check_store_meta(std::string_view bytes, uint32_t partition_count) {
  ByteReader reader(bytes);
  const uint8_t version = reader.u8();
  const uint32_t stored_count = reader.u32();
  const size_t body_bytes = bytes.size() - reader.left();
  const uint64_t sum = reader.u64();
  if (!reader.ok() || !reader.at_end() || sum != checksum_of(bytes.substr(0, body_bytes))) {
    return corrupt("the description of the store is damaged");
  }
  if (version != kVersion) {
    return invalid("the store has format version " + std::to_string(version) + ", this program knows " +
                   std::to_string(kVersion) + ": use the program that wrote it, or a newer one");
  }
  if (stored_count != partition_count) {
    return invalid("the store was made for " + std::to_string(stored_count) + " partitions, the configuration says " +
                   std::to_string(partition_count) +
                   ": set the old partition count again, or start with an empty "
                   "filter store and replay");
  }
  return {};
}

}  // namespace bloomring
