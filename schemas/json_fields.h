// The wanted fields of one JSON object, by name; everything else in it is checked and ignored.
//
// Three readers with the same answers, each for what the one before gives up. The first compares the record with the
// shapes of recent ones (schemas/json_shape.h). The second walks it once with simdjson's on-demand interface; it takes
// records without backslashes whose other fields are at most kDepthMax levels deep. The last is simdjson's DOM, which
// also says what is wrong. Of a repeated field the first counts; a field that is null is absent. Threading: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/borrow.h"
#include "schemas/json_shape.h"

namespace bloomring {

struct JsonField {
  enum class Type : uint8_t { kAbsent, kString, kInt64, kUint64, kDouble, kOther };
  Type type = Type::kAbsent;
  // What the type says is set, the others are left over.
  std::string_view text;  // Of a string; valid until the next read, as long as the record itself.
  int64_t int64 = 0;
  uint64_t uint64 = 0;  // Above the range of int64.
  double number = 0;    // Neither of both.
};

enum class JsonVerdict : uint8_t { kObject, kMalformed, kNotUtf8 };

class JsonFields {
 public:
  static constexpr int kDepthMax = 8;

  explicit JsonFields(std::vector<std::string> names);
  ~JsonFields();
  JsonFields(JsonFields&&) noexcept;
  JsonFields& operator=(JsonFields&&) noexcept;

  JsonVerdict read(std::string_view json);
  // What `read` would do without its quick readers: for tests and fuzzing.
  JsonVerdict read_strictly(std::string_view json);

  // In the order of the names; those of the last record that was read as an object.
  std::span<const JsonField> fields() const BLOOMRING_LIFETIMEBOUND { return fields_; }
  // A sentence about the last record that was not.
  const std::string& detail() const { return detail_; }

 private:
  struct Readers;
  class Walk;
  static constexpr size_t kShapesMax = 4;
  static constexpr size_t kShapeBytesMax = 4096;
  static constexpr size_t kShapeValuesMax = 64;

  void clear_fields();
  void load(std::string_view json);
  bool read_by_shape(std::string_view json);
  bool read_quickly(std::string_view json);
  // The number of the field that this name is wanted for and that no earlier one has set, or -1.
  int wanted(std::string_view name) const;
  void learn(std::string_view json, std::span<const JsonShape::Value> values);

  std::vector<std::string> names_;
  std::vector<JsonField> fields_;
  std::vector<JsonShape> shapes_;  // The one that matched last is first.
  std::vector<char> padded_;       // simdjson reads beyond the end of a record; the broker's buffers end with it.
  std::string detail_;
  std::unique_ptr<Readers> readers_;
};

}  // namespace bloomring
