#include "schemas/json/json_shape.h"

#include <array>
#include <cstring>
#include <limits>

namespace bloomring {

namespace {

constexpr size_t kDigitsMax = 19;  // 10^19 - 1 < 2^64.

// The bytes that a string may hold unescaped as one character.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x7f; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

uint64_t word_at(const char* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// Literals are mostly 8 to 16 bytes long: two words that may overlap spare the call of memcmp.
bool same(const char* a, const char* b, size_t bytes) {
  if (bytes < 8) {
    for (size_t i = 0; i < bytes; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }
  for (size_t i = 0; i + 8 < bytes; i += 8) {
    if (word_at(a + i) != word_at(b + i)) return false;
  }
  return word_at(a + bytes - 8) == word_at(b + bytes - 8);
}

const char* scan_string(const char* at, const char* end) {
  while (at < end && kPlain[static_cast<unsigned char>(*at)]) ++at;
  return at;
}

// The end of the digits at `at`; null when there are none or too many.
const char* scan_digits(const char* at, const char* end, uint64_t& value) {
  const char* const first = at;
  for (value = 0; at < end && *at >= '0' && *at <= '9'; ++at) {
    if (static_cast<size_t>(at - first) == kDigitsMax) return nullptr;
    value = value * 10 + static_cast<uint64_t>(*at - '0');
  }
  return at == first ? nullptr : at;
}

const char* scan_integer(const char* at, const char* end, int64_t& value) {
  const bool negative = at < end && *at == '-';
  if (negative) ++at;
  const char* const first = at;
  uint64_t digits = 0;
  at = scan_digits(at, end, digits);
  if (at == nullptr || (*first == '0' && at - first > 1)) return nullptr;
  if (digits > std::numeric_limits<int64_t>::max()) return nullptr;
  value = negative ? -static_cast<int64_t>(digits) : static_cast<int64_t>(digits);
  return at;
}

const char* scan_number(const char* at, const char* end) {
  int64_t whole = 0;
  uint64_t fraction = 0;
  at = scan_integer(at, end, whole);
  return at != nullptr && at < end && *at == '.' ? scan_digits(at + 1, end, fraction) : at;
}

// The end of the value that begins at `at`, or null. Also the number, for an integer.
const char* scan(JsonShape::Kind kind, const char* at, const char* end, int64_t& value) {
  switch (kind) {
    case JsonShape::Kind::kString: return scan_string(at, end);
    case JsonShape::Kind::kInteger: return scan_integer(at, end, value);
    case JsonShape::Kind::kNumber: return scan_number(at, end);
  }
  return nullptr;
}

}  // namespace

bool JsonShape::can_hold(std::string_view bytes, Kind kind) {
  int64_t value = 0;
  const char* const end = bytes.data() + bytes.size();
  return scan(kind, bytes.data(), end, value) == end;
}

JsonShape::JsonShape(std::string_view json, std::span<const Value> values) {
  size_t at = 0;
  for (const Value& value : values) {
    parts_.push_back(
        {static_cast<uint32_t>(literals_.size()), static_cast<uint32_t>(value.begin - at), value.kind, value.field});
    literals_.append(json.substr(at, value.begin - at));
    at = value.end;
  }
  tail_begin_ = static_cast<uint32_t>(literals_.size());
  literals_.append(json.substr(at));
}

bool JsonShape::match(std::string_view json, std::span<JsonField> fields) const {
  const char* at = json.data();
  const char* const end = at + json.size();
  for (const Part& part : parts_) {
    if (static_cast<size_t>(end - at) < part.literal_bytes) return false;
    if (!same(at, literals_.data() + part.literal_begin, part.literal_bytes)) return false;
    at += part.literal_bytes;
    const char* const begin = at;
    int64_t value = 0;
    at = scan(part.kind, at, end, value);
    if (at == nullptr) return false;
    if (part.field < 0) continue;
    JsonField& field = fields[static_cast<size_t>(part.field)];
    field.type = part.kind == Kind::kString ? JsonField::Type::kString : JsonField::Type::kInt64;
    field.text = std::string_view(begin, static_cast<size_t>(at - begin));
    field.int64 = value;
  }
  const std::string_view tail = std::string_view(literals_).substr(tail_begin_);
  return std::string_view(at, static_cast<size_t>(end - at)) == tail;
}

}  // namespace bloomring
