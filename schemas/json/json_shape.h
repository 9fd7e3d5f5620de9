// The shape of a JSON object: everything but the contents of its strings and numbers.
//
// Producers write every record alike: names, order, punctuation and spaces repeat, only values differ. So a record that
// has the bytes of one that a JSON parser accepted, except that strings hold other printable ASCII characters (no
// quote, no backslash) and numbers have other digits (below 2^63, no zeros in front, no exponent), is itself correct,
// and its fields are where those of the other are. Comparing is several times quicker than parsing; what does not
// compare equal is parsed. Threading: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomring {

struct JsonField;

class JsonShape {
 public:
  enum class Kind : uint8_t { kString, kInteger, kNumber };
  // A string or a number of the object.
  struct Value {
    size_t begin = 0;  // Its bytes in the record; of a string, without the quotes.
    size_t end = 0;
    Kind kind = Kind::kString;
    int field = -1;  // Which of the wanted fields it is: a string or an integer; -1 when nobody wants it.
  };

  // Whether a shape tells where a value like this begins and ends; an object with another one has no shape.
  static bool can_hold(std::string_view bytes, Kind kind);

  // The shape of a correct object with these values, in the order of their places.
  JsonShape(std::string_view json, std::span<const Value> values);

  // Whether `json` has this shape; then `fields` are set as their numbers say. Views point into `json`.
  bool match(std::string_view json, std::span<JsonField> fields) const;

 private:
  struct Part {
    uint32_t literal_begin;  // What precedes the value, in literals_.
    uint32_t literal_bytes;
    Kind kind;
    int field;
  };
  std::string literals_;
  std::vector<Part> parts_;
  uint32_t tail_begin_;  // What follows the last value.
};

}  // namespace bloomring
