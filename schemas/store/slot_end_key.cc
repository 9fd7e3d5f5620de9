#include "schemas/store/slot_end_key.h"

#include "base/hash.h"
#include "schemas/pieces/bytes.h"
#include "schemas/store_key.h"

namespace bloomring {

namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kBytes = 1 + 3 * sizeof(uint64_t);

uint64_t checksum_of(std::string_view body) { return hash_bytes(body, hash_bytes(kSlotEndKeyKey, 0)); }

}  // namespace

std::string encode_slot_end_key(const SumKey& key) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.u8(kVersion);
  writer.u64(key.low);
  writer.u64(key.high);
  writer.u64(checksum_of(bytes));
  return bytes;
}

Result<SumKey> decode_slot_end_key(std::string_view bytes) {
  if (bytes.size() != kBytes) return corrupt("the key of slot ends: its length is wrong");
  ByteReader reader(bytes);
  const uint8_t version = reader.u8();
  const SumKey key{reader.u64(), reader.u64()};
  if (reader.u64() != checksum_of(bytes.substr(0, kBytes - sizeof(uint64_t))))
    return corrupt("the key of slot ends: checksum differs");
  if (version != kVersion) {
    return corrupt("the key of slot ends: format version " + std::to_string(version) + " is not known");
  }
  return key;
}

}  // namespace bloomring
