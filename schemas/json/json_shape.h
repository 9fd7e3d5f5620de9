// The shape of a JSON object: all its bytes except the contents of its strings and numbers.
//
// Producers write every record alike: names, order, punctuation and spaces repeat, only values differ. Take a record
// that a JSON parser accepted, and change only strings, to other printable ASCII characters (no quote, no backslash),
// and numbers, to other digits (below 2^63, no leading zeros, no exponent): the new record is correct too, and has the
// same fields in the same order. Comparing is several times quicker than parsing; records of no known shape are parsed.
// Threading: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/json/json_field.h"

namespace bloomring {

class JsonShape {
 public:
  enum class Kind : uint8_t { kString, kInteger, kNumber };
  // A string or a number of the object.
  struct Value {
    size_t begin = 0;  // Its bytes in the record; of a string, without the quotes.
    size_t end = 0;
    Kind kind = Kind::kString;
    int field = -1;  // Index of the wanted field, a string or an integer; -1: not wanted.
  };

  // True when a shape can tell the ends of such a value. An object with any other value has no shape.
  static bool can_hold(std::string_view bytes, Kind kind);

  // The shape of a correct object with these values, in the order of their places.
  JsonShape(std::string_view json, std::span<const Value> values);

  // True when `json` has this shape; then sets the `fields` that its values name. Views point into `json`.
  bool match(std::string_view json, std::span<JsonField> fields) const;

 private:
  struct Part {
    uint32_t literal_begin;  // Bytes before the value, in literals_.
    uint32_t literal_bytes;
    Kind kind;
    int field;
  };
  std::string literals_;
  std::vector<Part> parts_;
  uint32_t tail_begin_;  // Bytes after the last value.
};

}  // namespace bloomring
