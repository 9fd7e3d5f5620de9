// A keyed checksum: only an owner of the key can make the sum of bytes of his choice. SipHash-2-4 of Aumasson and
// Bernstein (2012), with 64 bits; it is made for short messages.
//
// The plain sums of our formats (base/hash.h) find damage, and anybody can make them.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace bloomring {

struct SumKey {
  uint64_t low = 0;  // Bytes 0 to 7 of the key, little-endian.
  uint64_t high = 0;
  bool operator==(const SumKey&) const = default;
};

// A key of the machine's randomness.
SumKey random_sum_key();

uint64_t keyed_sum(std::string_view bytes, const SumKey& key);

}  // namespace bloomring
