// The sum at the end of a value that lies at rest. It shows that the value is whole, and that it is the value of its
// label: of its key in a filter store, of its shard, or of its kind where it lies in a file.
//
//   value := body:raw sum:u64           sum = XXH3(body, XXH3(label, 0))
//
// docs/formats.md lists the label of each format. Records of topics have a sum of 4 bytes instead: `seal` in
// schemas/pieces/bytes.h.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/borrow.h"

namespace bloomring {

inline constexpr size_t kLabelledSumBytes = sizeof(uint64_t);

// Appends the sum of everything in `body`.
void append_labelled_sum(std::string& body, std::string_view label);

// The bytes before the sum; nothing when `value` is shorter than a sum, or has another one.
std::optional<std::string_view> split_labelled_sum(std::string_view value BLOOMRING_LIFETIMEBOUND,
                                                   std::string_view label);
template <OwningTemporary Bytes>
std::optional<std::string_view> split_labelled_sum(Bytes&& value, std::string_view label) = delete;

// The sum at the end, which nobody has verified; 0 when `value` is shorter than a sum.
uint64_t labelled_sum_of(std::string_view value);

}  // namespace bloomring
