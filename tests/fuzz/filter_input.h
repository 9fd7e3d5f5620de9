// Fuzzed bytes as filter values. The fuzzer cannot find a checksum by itself, so one that fits is put in its place:
// what it finds is what somebody who knows the format could write.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter/filter.h"
#include "filter/format.h"

namespace bloomring::filter {

inline constexpr std::string_view kFuzzKey = "key";

inline std::string signed_value(std::string_view body, std::string_view store_key = kFuzzKey) {
  std::string value(body);
  const uint32_t checksum = checksum_of(body, store_key);
  value.append(reinterpret_cast<const char*>(&checksum), kChecksumBytes);
  return value;
}

// Asks both the portable and the fast code; they must agree on values that are exactly of this format.
inline std::vector<uint8_t> ask(Query::Simd simd, std::string_view value, std::span<const ItemHash> candidates) {
  Query query(simd);
  std::vector<uint8_t> found(candidates.size(), Query::kUnseen);
  if (query.add(value, kFuzzKey).ok()) query.run(candidates, "user", found);
  return found;
}

// Every fingerprint of `part`, or a beginning of it, is in `whole`.
inline void expect_covers(std::string_view whole, std::string_view part, std::string_view store_key = kFuzzKey) {
  Parts all, some;
  BLOOMRING_CHECK(decode(parse(whole, store_key, Checksum::kVerify).value(), all).ok(), "decodes");
  BLOOMRING_CHECK(decode(parse(part, store_key, Checksum::kVerify).value(), some).ok(), "decodes");
  const auto covered = [&](uint64_t fingerprint, uint32_t bits, const Fingerprints& set, uint32_t set_bits) {
    return !set.empty() && set_bits <= bits &&
           std::binary_search(set.begin(), set.end(), fingerprint >> (bits - set_bits));
  };
  const auto expect = [&](const Fingerprints& set, uint32_t bits) {
    for (const uint64_t fingerprint : set) {
      BLOOMRING_CHECK(covered(fingerprint, bits, all.narrow, all.narrow_width_bits) ||
                          covered(fingerprint, bits, all.wide, all.wide_width_bits),
                      "an item was lost");
    }
  };
  expect(some.narrow, some.narrow_width_bits);
  expect(some.wide, some.wide_width_bits);
}

}  // namespace bloomring::filter
