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

inline std::string signed_value(std::string_view body) {
  std::string value(body);
  const uint32_t checksum = checksum_of(body, kFuzzKey);
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

}  // namespace bloomring::filter
