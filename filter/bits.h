// Bit arithmetic and little-endian loads that never read past the end of a value.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bloomring::filter {

static_assert(std::endian::native == std::endian::little, "the stored formats are little endian");

// The smallest b with 2^b >= n, for n >= 1.
constexpr uint32_t ceil_log2(uint64_t n) { return n <= 1 ? 0 : static_cast<uint32_t>(std::bit_width(n - 1)); }

constexpr uint64_t low_mask(uint32_t bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

constexpr uint64_t bytes_of_bits(uint64_t bits) { return (bits + 7) / 8; }

// Eight bytes from `at`; bytes at or after `end` read as zero.
inline uint64_t load64(const uint8_t* at, const uint8_t* end) {
  uint64_t word = 0;
  if (at + 8 <= end) [[likely]] {
    std::memcpy(&word, at, 8);
  } else if (at < end) {
    std::memcpy(&word, at, static_cast<size_t>(end - at));
  }
  return word;
}

}  // namespace bloomring::filter
