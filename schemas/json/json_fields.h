// The wanted fields of one JSON object, by name or path; everything else in it is checked and ignored.
//
// A wanted name is that of a field of the object itself. One with dots, as `user.id`, is also a path: field `id` of the
// object in field `user`, or a field of the object with the name `user.id` itself; in the middle of a path no name has
// a dot. An empty name is never found. A field that is null is absent.
//
// A wanted field that occurs more than once is kRepeated, whatever its values are: JSON libraries differ in the one
// that they take. It occurs more than once where its name or a name on its path is repeated in one object, also in
// another spelling (`us\u0065r`), and where it stands both under its path and under its name with dots.
//
// Three readers give the same answers; each takes the records that the one before gives up:
// 1. The first compares the record with the shapes of recent ones (schemas/json/json_shape.h).
// 2. The second walks it once with simdjson's on-demand interface; it takes records without backslashes whose other
//    fields are at most kDepthMax levels deep.
// 3. The last is simdjson's DOM, which also finds the reason of a refusal.
// Threading: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/borrow.h"
#include "schemas/json/json_field.h"
#include "schemas/json/json_shape.h"

namespace bloomring {

enum class JsonOutcome : uint8_t { kObject, kMalformed, kNotUtf8 };

class JsonFields {
 public:
  static constexpr int kDepthMax = 8;  // Also of paths.

  explicit JsonFields(std::vector<std::string> names);
  ~JsonFields();
  JsonFields(JsonFields&&) noexcept;
  JsonFields& operator=(JsonFields&&) noexcept;

  JsonOutcome read(std::string_view json);
  // `read` without its quick readers: for tests and fuzzing.
  JsonOutcome read_strictly(std::string_view json);

  // In the order of the names; those of the last record that was read as an object.
  std::span<const JsonField> fields() const BLOOMRING_LIFETIMEBOUND { return std::span(fields_).first(names_); }
  // A sentence about the last record that was refused.
  const std::string& detail() const { return detail_; }

 private:
  struct Readers;
  class Walk;
  static constexpr size_t kShapesMax = 4;
  static constexpr size_t kShapeBytesMax = 4096;
  static constexpr size_t kShapeValuesMax = 64;

  // A name to look for among the fields of one object, and the names to look for in that field's own object.
  struct Wanted {
    std::string name;
    int field = -1;  // Index in fields_; -1: only inner names.
    size_t place;    // Index in found_.
    std::vector<Wanted> inner;
  };
  // A name with dots: the field of that very name, and the one that is found along the path.
  struct Path {
    size_t field;
    size_t along;
    size_t field_place;  // Index in found_.
    size_t along_place;
  };
  Wanted& add(Wanted& among, std::string_view name, int field);
  // The place of the path's last name.
  size_t want(std::string_view path, int field);
  void take_paths();
  void clear_fields();
  void clear_found();
  void load(std::string_view json);
  bool read_by_shape(std::string_view json);
  bool read_quickly(std::string_view json);
  // Notes that a field of the name was found. The index in fields_ of the one that takes its value, or -1.
  int note_found(const Wanted& wanted);
  void note_repeated(const Wanted& wanted);
  void note_ambiguous();
  static const Wanted* find(const Wanted* among, std::string_view name);
  void learn(std::string_view json, std::span<const JsonShape::Value> values);

  size_t names_;
  Wanted wanted_;                  // Of the object itself.
  std::vector<JsonField> fields_;  // First those of the names, then those of the paths.
  std::vector<Path> paths_;
  std::vector<bool> found_;  // Of the wanted names, whatever their values; not set by shapes.
  bool repeated_ = false;    // One of the fields is.
  std::vector<JsonShape> shapes_;  // The one that matched last is first.
  std::vector<char> padded_;       // A copy: simdjson reads past the end of a record, the broker's buffer ends there.
  std::string detail_;
  std::unique_ptr<Readers> readers_;
};

}  // namespace bloomring
