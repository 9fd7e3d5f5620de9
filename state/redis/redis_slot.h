// Slots of a cluster of the Redis protocol: the parts in which it spreads keys over its servers.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace bloomring {

inline constexpr uint16_t kRedisSlots = 16384;

// The slot of a key: CRC16 of its hash tag, modulo kRedisSlots. The tag is what stands between the first "{" and the
// next "}"; of a key without one, or with nothing between them, the whole key.
uint16_t redis_slot(std::string_view key);
// The CRC of the Redis cluster specification (XMODEM): polynomial 0x1021, begins with 0, nothing reflected.
uint16_t redis_crc16(std::string_view bytes);

}  // namespace bloomring
