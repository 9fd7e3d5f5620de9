// The bytes of a filter value, version 1. docs/formats.md is the specification; this is its reader and writer.
//
//   value := magic flags {width items} [pad index {directory}] {lows uppers} checksum
//
// `parse` trusts nothing: afterwards every range of a View is inside the value, but the sets themselves have not
// been decoded (`decode` checks them).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/borrow.h"
#include "base/result.h"
#include "filter/elias_fano.h"
#include "filter/index.h"

namespace bloomring::filter {

inline constexpr uint8_t kMagic = 0xb1;  // "b", version 1.
inline constexpr size_t kChecksumBytes = 4;

enum Flag : uint8_t {
  kHasNarrow = 1,
  kHasWide = 2,
  kHasIndex = 4,
  kFolded = 8,
  kSaturated = 16,
};

// A value as it was read. Borrows: the caller of `parse` keeps the bytes of the value, unchanged and in place, for as
// long as the view or anything in it is used.
struct View {
  uint8_t flags = 0;
  EliasFanoView narrow;
  EliasFanoView wide;
  IndexView index;  // Dense form only.

  bool has(Flag flag) const { return (flags & flag) != 0; }
  // The width at which the index was built and sets are compared: the smallest.
  uint32_t width_bits() const { return narrow.items > 0 ? narrow.width_bits : wide.width_bits; }
  // Probability that an item that was never added is found: the part of the hash space that the sets cover.
  double expected_error() const;
};

// The parts of a value to write. The sets are disjoint: no wide fingerprint begins with a narrow one.
struct Parts {
  Fingerprints narrow;
  uint32_t narrow_width_bits = 0;
  Fingerprints wide;
  uint32_t wide_width_bits = 0;
  bool index = false;
  bool folded = false;
  bool saturated = false;
};

// The sizes of the sets of a value, without the sets.
struct PartSizes {
  uint64_t narrow_items = 0;
  uint32_t narrow_width_bits = 0;
  uint64_t wide_items = 0;
  uint32_t wide_width_bits = 0;
  bool index = false;
};

// The length of the value that `assemble` makes of parts of these sizes: a pure function of them. For plans
// (filter/stored_bytes.h), and for `assemble` itself.
uint64_t assembled_bytes(const PartSizes& sizes);

// The bytes of a value. At least one set is not empty.
std::string assemble(const Parts& parts, std::string_view store_key);

// Decodes the sets of a parsed value into `out`, or returns their fault.
Status decode(const View& view, Parts& out);

// Fails unless the index and the directories are those that these sets give. Readers of the index need not call it: a
// wrong index under a right checksum gives wrong answers, but no wrong reads.
Status check_index(const View& view, const Parts& parts);

enum class Checksum { kVerify, kSkip };
Result<View> parse(std::string_view value BLOOMRING_LIFETIMEBOUND, std::string_view store_key, Checksum checksum);
template <OwningTemporary Bytes>
Result<View> parse(Bytes&& value, std::string_view store_key, Checksum checksum) = delete;

uint32_t checksum_of(std::string_view bytes, std::string_view store_key);

double error_of(uint64_t narrow_items, uint32_t narrow_width_bits, uint64_t wide_items, uint32_t wide_width_bits);

}  // namespace bloomring::filter
