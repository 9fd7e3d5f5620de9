// Fuzzed bytes as records of our own topics and values of our own stores. The fuzzer cannot find a checksum by itself,
// so one that fits is appended: what it finds is what somebody who knows the format could write.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"
#include "schemas/pieces/bytes.h"
#include "schemas/pieces/labelled_sum.h"

namespace bloomring::fuzz {

// With one partition every user is of this partition.
inline constexpr PartitionId kPartition(0);
inline constexpr uint32_t kPartitionCount = 1;

inline std::string sealed(std::string_view body, uint8_t kind) {
  std::string bytes(body);
  seal(bytes, kind);
  return bytes;
}

// As a value of the filter store: its sum is seeded with the hash of its key.
inline std::string summed(std::string_view body, std::string_view store_key) {
  std::string bytes(body);
  append_labelled_sum(bytes, store_key);
  return bytes;
}

}  // namespace bloomring::fuzz
