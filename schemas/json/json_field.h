// The value of one wanted field of a JSON record, as its readers (json_fields.h, json_shape.h) find it. A value.
#pragma once

#include <cstdint>
#include <string_view>

namespace bloomring {

struct JsonField {
  enum class Type : uint8_t { kAbsent, kString, kInt64, kUint64, kDouble, kOther, kRepeated };
  Type type = Type::kAbsent;
  // The member of the type is set; the others hold leftovers.
  std::string_view text;  // Of a string; valid until the next read, while the record lives.
  int64_t int64 = 0;
  uint64_t uint64 = 0;  // Above the range of int64.
  double number = 0;    // Numbers of neither kind.
};

}  // namespace bloomring
