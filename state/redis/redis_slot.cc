#include "state/redis/redis_slot.h"

#include <array>

namespace bloomring {

namespace {

constexpr std::array<uint16_t, 256> make_crc_table() {
  std::array<uint16_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 : crc << 1;
    table[byte] = static_cast<uint16_t>(crc);
  }
  return table;
}
constexpr std::array<uint16_t, 256> kCrcTable = make_crc_table();

std::string_view hash_tag(std::string_view key) {
  const size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace

uint16_t redis_crc16(std::string_view bytes) {
  uint16_t crc = 0;
  for (const char byte : bytes) {
    const size_t at = ((crc >> 8) ^ static_cast<unsigned char>(byte)) & 0xff;
    crc = static_cast<uint16_t>(crc << 8 ^ kCrcTable[at]);
  }
  return crc;
}

uint16_t redis_slot(std::string_view key) { return redis_crc16(hash_tag(key)) % kRedisSlots; }

}  // namespace bloomring
