#include "schemas/pieces/labelled_sum.h"

#include "base/hash.h"
#include "schemas/pieces/bytes.h"

namespace bloomring {

namespace {

uint64_t sum_of(std::string_view body, std::string_view label) { return hash_bytes(body, hash_bytes(label, 0)); }

}  // namespace

void append_labelled_sum(std::string& body, std::string_view label) { ByteWriter(body).u64(sum_of(body, label)); }

std::optional<std::string_view> split_labelled_sum(std::string_view value, std::string_view label) {
  if (value.size() < kLabelledSumBytes) return std::nullopt;
  const std::string_view body = value.substr(0, value.size() - kLabelledSumBytes);
  if (labelled_sum_of(value) != sum_of(body, label)) return std::nullopt;
  return body;
}

uint64_t labelled_sum_of(std::string_view value) {
  if (value.size() < kLabelledSumBytes) return 0;
  return ByteReader(value.substr(value.size() - kLabelledSumBytes)).u64();
}

}  // namespace bloomring
