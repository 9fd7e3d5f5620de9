#include "schemas/json/json_fields.h"

#include <simdjson.h>

#include <algorithm>

namespace bloomring {

namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::dom::element;
using simdjson::dom::element_type;

JsonField field_of(const element& value) {
  JsonField field;
  switch (value.type()) {
    case element_type::STRING:
      field.type = JsonField::Type::kString;
      field.text = value.get_string().value_unsafe();
      break;
    case element_type::INT64:
      field.type = JsonField::Type::kInt64;
      field.int64 = value.get_int64().value_unsafe();
      break;
    case element_type::UINT64:
      field.type = JsonField::Type::kUint64;
      field.uint64 = value.get_uint64().value_unsafe();
      break;
    case element_type::DOUBLE:
      field.type = JsonField::Type::kDouble;
      field.number = value.get_double().value_unsafe();
      break;
    case element_type::NULL_VALUE: break;
    default: field.type = JsonField::Type::kOther;
  }
  return field;
}

// Of a record that is no object, or, with an error, no JSON that simdjson reads.
std::string describe(simdjson::error_code error) {
  if (error == simdjson::SUCCESS) return "the record is JSON but not an object";
  if (error != simdjson::NUMBER_ERROR) return simdjson::error_message(error);
  return "a number is not JSON, or beyond 64 bits (at most 18446744073709551615): send a longer id as a string";
}

// The names of a path; none when it is not one.
std::vector<std::string_view> names_of(std::string_view path) {
  std::vector<std::string_view> names;
  for (size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    names.push_back(path.substr(0, dot));
    path.remove_prefix(dot + 1);
  }
  names.push_back(path);
  const bool whole = std::ranges::none_of(names, [](std::string_view name) { return name.empty(); });
  return whole && names.size() > 1 ? names : std::vector<std::string_view>();
}

}  // namespace

struct JsonFields::Readers {
  ondemand::parser quick;
  simdjson::dom::parser strict;
  std::vector<JsonShape::Value> values;

  // No deeper than the wanted paths are.
  static void take_fields(JsonFields& fields, const element& of, const Wanted& among) {
    const simdjson::dom::object object = of.get_object().value_unsafe();
    for (const simdjson::dom::key_value_pair item : object) {
      const Wanted* const wanted = find(&among, item.key);
      if (wanted == nullptr) continue;
      if (const int field = fields.note_found(*wanted); field >= 0)
        fields.fields_[static_cast<size_t>(field)] = field_of(item.value);
      if (!wanted->inner.empty() && item.value.is_object()) take_fields(fields, item.value, *wanted);
    }
  }
};

// One pass over a record without backslashes. Each step returns false to give up.
class JsonFields::Walk {
 public:
  // simdjson reads `record`; values are noted by their places in it.
  Walk(JsonFields& fields, std::string_view record)
      : fields_(fields), record_(record), values_(fields.readers_->values) {
    values_.clear();
  }

  bool object(ondemand::object object) { return take_fields(object, &fields_.wanted_, kDepthMax); }
  // True when other records of this shape have their fields at the same places.
  bool has_shape() const { return has_shape_ && record_.size() <= kShapeBytesMax && values_.size() <= kShapeValuesMax; }

 private:
  // The text of a string or a name, which simdjson has found to be closed.
  std::string_view text_at(const char* begin) const {
    const auto place = static_cast<size_t>(begin - record_.data());
    return record_.substr(place, record_.find('"', place) - place);
  }

  // Reads the fields of an object in which these are wanted, or none (null).
  bool take_fields(ondemand::object& object, const Wanted* among, int depth_left) {
    for (auto item : object) {
      ondemand::raw_json_string name;
      ondemand::value value;
      if (item.key().get(name) || item.value().get(value)) return false;
      if (!take(value, among == nullptr ? nullptr : find(among, text_at(name.raw())), depth_left)) return false;
    }
    return true;
  }

  // Reads a value; sets the wanted field, if it is one.
  bool take(ondemand::value& value, const Wanted* wanted, int depth_left) {
    const int field = wanted == nullptr ? -1 : fields_.note_found(*wanted);
    ondemand::json_type type;
    bool null = false;
    if (value.type().get(type)) return false;
    switch (type) {
      case ondemand::json_type::string: return take_string(value, field);
      case ondemand::json_type::number: return take_number(value, field);
      case ondemand::json_type::null: return !value.is_null().get(null) && null;
      default: break;
    }
    if (field >= 0) {
      at(field).type = JsonField::Type::kOther;
      has_shape_ = false;
    }
    return type == ondemand::json_type::boolean ? !value.get_bool().error()
                                                  : take_nested(value, type, wanted, depth_left - 1);
  }

  bool take_string(ondemand::value& value, int field) {
    ondemand::raw_json_string raw;
    if (value.get_raw_json_string().get(raw)) return false;
    const std::string_view text = text_at(raw.raw());
    note(text, JsonShape::Kind::kString, field);
    if (field < 0) return true;
    at(field).type = JsonField::Type::kString;
    at(field).text = text;
    return true;
  }

  bool take_number(ondemand::value& value, int field) {
    const std::string_view token = value.raw_json_token();
    ondemand::number number;
    if (value.get_number().get(number)) return false;
    const bool integer = number.is_int64();
    // simdjson 3.0.1 reads a long fraction as 0 here, so a wanted one is left to the strict reader.
    if (field >= 0 && !integer && !number.is_uint64()) return false;
    note(token.substr(0, token.find_last_of("0123456789") + 1),
         field >= 0 ? JsonShape::Kind::kInteger : JsonShape::Kind::kNumber, field);
    if (field < 0) return true;
    at(field).type = integer ? JsonField::Type::kInt64 : JsonField::Type::kUint64;
    if (integer)
      at(field).int64 = number.get_int64();
    else
      at(field).uint64 = number.get_uint64();
    return true;
  }

  bool take_nested(ondemand::value& value, ondemand::json_type type, const Wanted* wanted, int depth_left) {
    if (depth_left == 0) return false;
    if (type == ondemand::json_type::array) return take_array(value, depth_left);
    ondemand::object object;
    return !value.get_object().get(object) && take_fields(object, wanted, depth_left);
  }

  bool take_array(ondemand::value& value, int depth_left) {
    ondemand::array array;
    if (value.get_array().get(array)) return false;
    for (auto item : array) {
      ondemand::value inner;
      if (item.get(inner) || !take(inner, nullptr, depth_left)) return false;
    }
    return true;
  }

  void note(std::string_view text, JsonShape::Kind kind, int field) {
    has_shape_ &= JsonShape::can_hold(text, kind);
    const auto begin = static_cast<size_t>(text.data() - record_.data());
    values_.push_back({begin, begin + text.size(), kind, field});
  }
  JsonField& at(int field) { return fields_.fields_[static_cast<size_t>(field)]; }

  JsonFields& fields_;
  const std::string_view record_;
  std::vector<JsonShape::Value>& values_;
  bool has_shape_ = true;
};

JsonFields::JsonFields(std::vector<std::string> names)
    : names_(names.size()), fields_(names.size()), readers_(std::make_unique<Readers>()) {
  std::vector<size_t> places(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) places[i] = add(wanted_, names[i], static_cast<int>(i)).place;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (names_of(names[i]).empty()) continue;
    const size_t along = fields_.size();
    paths_.push_back({i, along, places[i], want(names[i], static_cast<int>(along))});
    fields_.emplace_back();
  }
}
JsonFields::~JsonFields() = default;
JsonFields::JsonFields(JsonFields&&) noexcept = default;
JsonFields& JsonFields::operator=(JsonFields&&) noexcept = default;

JsonFields::Wanted& JsonFields::add(Wanted& among, std::string_view name, int field) {
  found_.push_back(false);
  return among.inner.emplace_back(Wanted{std::string(name), field, found_.size() - 1, {}});
}

size_t JsonFields::want(std::string_view path, int field) {
  Wanted* at = &wanted_;
  for (const std::string_view name : names_of(path)) {
    const auto known = std::ranges::find(at->inner, name, &Wanted::name);
    at = known != at->inner.end() ? &*known : &add(*at, name, -1);
  }
  at->field = field;
  return at->place;
}

JsonOutcome JsonFields::read(std::string_view json) {
  if (!read_by_shape(json) && !read_quickly(json)) return read_strictly(json);
  take_paths();
  return JsonOutcome::kObject;
}

void JsonFields::take_paths() {
  for (const Path& path : paths_) {
    if (fields_[path.field].type == JsonField::Type::kAbsent) fields_[path.field] = fields_[path.along];
  }
}

void JsonFields::clear_fields() {
  for (JsonField& field : fields_) field.type = JsonField::Type::kAbsent;
}

void JsonFields::clear_found() {
  clear_fields();
  found_.assign(found_.size(), false);
  repeated_ = false;
}

void JsonFields::load(std::string_view json) {
  const size_t bytes = json.size() + simdjson::SIMDJSON_PADDING;
  if (padded_.size() < bytes) padded_.resize(bytes + 4096);
  std::copy(json.begin(), json.end(), padded_.begin());
}

const JsonFields::Wanted* JsonFields::find(const Wanted* among, std::string_view name) {
  for (const Wanted& one : among->inner) {
    if (name == one.name) return &one;
  }
  return nullptr;
}

int JsonFields::note_found(const Wanted& wanted) {
  if (found_[wanted.place]) {
    note_repeated(wanted);
    return -1;
  }
  found_[wanted.place] = true;
  if (wanted.field < 0) return -1;
  return fields_[static_cast<size_t>(wanted.field)].type == JsonField::Type::kRepeated ? -1 : wanted.field;
}

void JsonFields::note_repeated(const Wanted& wanted) {
  repeated_ = true;
  if (wanted.field >= 0) fields_[static_cast<size_t>(wanted.field)].type = JsonField::Type::kRepeated;
  for (const Wanted& inner : wanted.inner) note_repeated(inner);
}

// Both the field of a path's very name and one along it, or one along it that is repeated.
void JsonFields::note_ambiguous() {
  for (const Path& path : paths_) {
    const bool both = found_[path.field_place] && found_[path.along_place];
    if (!both && fields_[path.along].type != JsonField::Type::kRepeated) continue;
    fields_[path.field].type = JsonField::Type::kRepeated;
    repeated_ = true;
  }
}

bool JsonFields::read_by_shape(std::string_view json) {
  for (size_t i = 0; i < shapes_.size(); ++i) {
    clear_fields();
    if (!shapes_[i].match(json, fields_)) continue;
    const auto matched = shapes_.begin() + static_cast<ptrdiff_t>(i);
    std::rotate(shapes_.begin(), matched, matched + 1);
    return true;
  }
  return false;
}

bool JsonFields::read_quickly(std::string_view json) {
  if (json.find('\\') != std::string_view::npos) return false;
  load(json);
  clear_found();
  ondemand::document document;
  ondemand::object object;
  if (readers_->quick.iterate(padded_.data(), json.size(), padded_.size()).get(document)) return false;
  if (document.get_object().get(object)) return false;
  Walk walk(*this, std::string_view(padded_.data(), json.size()));
  const char* rest;  // Nothing may follow the object.
  if (!walk.object(object) || document.current_location().get(rest) != simdjson::OUT_OF_BOUNDS) return false;
  note_ambiguous();
  if (walk.has_shape() && !repeated_) learn(json, readers_->values);
  return true;
}

void JsonFields::learn(std::string_view json, std::span<const JsonShape::Value> values) {
  if (shapes_.size() == kShapesMax) shapes_.pop_back();
  shapes_.insert(shapes_.begin(), JsonShape(json, values));
}

JsonOutcome JsonFields::read_strictly(std::string_view json) {
  load(json);
  clear_found();
  element document;
  const auto error = readers_->strict.parse(padded_.data(), json.size(), false).get(document);
  if (error || !document.is_object()) {
    detail_ = describe(error);
    return error == simdjson::UTF8_ERROR ? JsonOutcome::kNotUtf8 : JsonOutcome::kMalformed;
  }
  readers_->take_fields(*this, document, wanted_);
  note_ambiguous();
  take_paths();
  return JsonOutcome::kObject;
}

}  // namespace bloomring
