#include "schemas/store/slot_end_key.h"

#include "schemas/pieces/bytes.h"
#include "schemas/pieces/labelled_sum.h"
#include "schemas/store_key.h"

namespace bloomring {

namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kBytes = 1 + 2 * sizeof(uint64_t) + kLabelledSumBytes;

}  // namespace

std::string encode_slot_end_key(const SumKey& key) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.u8(kVersion);
  writer.u64(key.low);
  writer.u64(key.high);
  append_labelled_sum(bytes, kSlotEndKeyKey);
  return bytes;
}

Result<SumKey> decode_slot_end_key(std::string_view bytes) {
  if (bytes.size() != kBytes) return corrupt("the key of slot ends: its length is wrong");
  const auto body = split_labelled_sum(bytes, kSlotEndKeyKey);
  if (!body) return corrupt("the key of slot ends: checksum differs");
  ByteReader reader(*body);
  const uint8_t version = reader.u8();
  const SumKey key{reader.u64(), reader.u64()};
  if (version != kVersion) {
    return corrupt("the key of slot ends: format version " + std::to_string(version) + " is not known");
  }
  return key;
}

}  // namespace bloomring
