#include "schemas/pieces/bytes.h"

namespace bloomring {

uint64_t ByteReader::long_varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = u8();
    if (!ok_) return 0;
    if (shift == 63 && byte > 1) break;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      if (byte == 0 && shift != 0) break;  // Not the shortest form.
      return value;
    }
  }
  fail_bytes();
  return 0;
}

uint32_t checksum(std::string_view bytes, uint8_t kind) { return static_cast<uint32_t>(hash_bytes(bytes, kind)); }

void seal(std::string& out, uint8_t kind) {
  const uint32_t sum = checksum(out, kind);
  ByteWriter(out).u32(sum);
}

bool open_sealed(std::string_view bytes, uint8_t kind, std::string_view* body) {
  if (bytes.size() < sizeof(uint32_t)) return false;
  *body = bytes.substr(0, bytes.size() - sizeof(uint32_t));
  uint32_t sum = 0;
  std::memcpy(&sum, bytes.data() + body->size(), sizeof sum);
  return sum == checksum(*body, kind);
}

}  // namespace bloomring
