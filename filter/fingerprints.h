// Sets of fingerprints as sorted vectors, and the operations of a union.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "filter/elias_fano.h"

namespace bloomring::filter {

// The fingerprint of an item for a user: the top bits of hash * multiplier modulo 2^64.
constexpr uint64_t fingerprint_of(ItemHash item, uint64_t multiplier, uint32_t width_bits) {
  return item.value * multiplier >> (64 - width_bits);
}

// The fingerprints of these items, sorted, without repeats.
Fingerprints fingerprints_of(std::span<const ItemHash> items, uint64_t multiplier, uint32_t width_bits);

// The set cut from one width to a smaller one: fold(A u B) = fold(A) u fold(B).
Fingerprints fold(Fingerprints set, uint32_t from_bits, uint32_t to_bits);

// Adds `more` to `set`; quick when `more` is small.
void unite_into(Fingerprints& set, const Fingerprints& more);

// True when any fingerprint in `wide` begins with one in `narrow`.
bool covers_any(const Fingerprints& wide, uint32_t wide_bits, const Fingerprints& narrow, uint32_t narrow_bits);

// Removes from `wide` the fingerprints that begin with one in `narrow`.
void remove_covered(Fingerprints& wide, uint32_t wide_bits, const Fingerprints& narrow, uint32_t narrow_bits);

}  // namespace bloomring::filter
