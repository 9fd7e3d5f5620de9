#include "schemas/play_json.h"

#include <absl/time/time.h>
#include <simdjson.h>

#include <array>
#include <cmath>
#include <vector>

namespace bloomring {

namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

constexpr std::array<std::string_view, kRefusalCount> kRefusalNames = {
    "none",          "malformed_json", "missing_field", "wrong_type", "empty_id", "id_too_long", "time_too_early",
    "time_ahead",    "unknown_event",  "too_large",     "not_utf8",   "bad_block", "bad_batch"};

int64_t units_per_second(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds: return 1;
    case TimeUnit::kMilliseconds: return 1'000;
    case TimeUnit::kMicroseconds: return 1'000'000;
  }
  return 1'000;
}

// Unix milliseconds of a number in `unit`, or a value outside the accepted times when it is out of range. A decimal
// fraction such as .123 s is no binary one, so a product may lie below the whole millisecond by its rounding errors:
// at most 2^-12 ms each for the number and for the product, below 2^42 ms (the year 2109).
int64_t number_to_ms(double value, TimeUnit unit) {
  constexpr double kRoundingMs = 1.0 / 2048;
  const double ms = value * 1'000.0 / static_cast<double>(units_per_second(unit));
  if (!(ms > -1e18 && ms < 1e18)) return ms > 0 ? kEventTimeEndMs : -1;
  return static_cast<int64_t>(std::floor(ms + kRoundingMs));
}

int64_t integer_to_ms(int64_t value, TimeUnit unit) {
  if (value < 0) return -1;
  const int64_t units = units_per_second(unit);
  if (value / units >= kEventTimeEndMs / 1'000) return kEventTimeEndMs;
  return units > 1'000 ? value / (units / 1'000) : value * (1'000 / units);
}

// At most `bytes_max` bytes of valid UTF-8, without half a character at the end.
std::string_view cut(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xc0) == 0x80) --bytes_max;
  return text.substr(0, bytes_max);
}

// Queries cannot ask for it (schemas/bloomring.proto).
bool has_nul(std::string_view id) { return id.find('\0') != std::string_view::npos; }

}  // namespace

std::string_view refusal_name(Refusal refusal) { return kRefusalNames[static_cast<size_t>(refusal)]; }

struct PlayParser::Impl {
  explicit Impl(PlayMapping m) : mapping(std::move(m)) { buffer.resize(4096 + simdjson::SIMDJSON_PADDING); }

  Refusal refuse(Refusal refusal, std::string text) {
    detail = std::move(text);
    return refusal;
  }
  Refusal parse(std::string_view json, int64_t now_ms, Play& play);
  Refusal parse_document(std::string_view json, element& document);
  void collect(const simdjson::dom::object& object);
  Refusal read_id(const element* field, const std::string& name, std::string& digits, std::string_view& id);
  Refusal read_time(int64_t now_ms, int64_t& time_ms);
  Refusal read_scene(std::string_view& scene);
  Refusal read_kind(EventKind& kind);

  PlayMapping mapping;
  simdjson::dom::parser parser;
  std::vector<char> buffer;
  std::string detail;
  std::string user_digits;
  std::string item_digits;
  std::string time_text;

  // The fields of the current record; null when absent. Elements live in the parser.
  element slots[5];
  const element* user = nullptr;
  const element* item = nullptr;
  const element* time = nullptr;
  const element* scene = nullptr;
  const element* event = nullptr;
};

PlayParser::PlayParser(PlayMapping mapping) : impl_(std::make_unique<Impl>(std::move(mapping))) {}
PlayParser::~PlayParser() = default;
PlayParser::PlayParser(PlayParser&&) noexcept = default;
PlayParser& PlayParser::operator=(PlayParser&&) noexcept = default;
const std::string& PlayParser::detail() const { return impl_->detail; }
Refusal PlayParser::parse(std::string_view json, int64_t now_ms, Play& play) { return impl_->parse(json, now_ms, play); }

Refusal PlayParser::Impl::parse_document(std::string_view json, element& document) {
  if (json.size() > mapping.record_bytes_max) {
    return refuse(Refusal::kTooLarge, "the record has " + std::to_string(json.size()) + " bytes, at most " +
                                          std::to_string(mapping.record_bytes_max) + " are accepted");
  }
  // The broker's buffers are not padded as simdjson wants it, so the record is copied.
  if (buffer.size() < json.size() + simdjson::SIMDJSON_PADDING) buffer.resize(json.size() + simdjson::SIMDJSON_PADDING);
  std::copy(json.begin(), json.end(), buffer.begin());
  const auto error = parser.parse(buffer.data(), json.size(), false).get(document);
  if (error == simdjson::UTF8_ERROR) return refuse(Refusal::kNotUtf8, "the record is not UTF-8");
  if (error) return refuse(Refusal::kMalformedJson, simdjson::error_message(error));
  if (!document.is_object()) return refuse(Refusal::kMalformedJson, "the record is JSON but not an object");
  return Refusal::kNone;
}

void PlayParser::Impl::collect(const simdjson::dom::object& object) {
  user = item = time = scene = event = nullptr;
  const std::array<std::pair<const std::string*, const element**>, 5> wanted = {
      {{&mapping.user, &user}, {&mapping.item, &item}, {&mapping.time, &time}, {&mapping.scene, &scene}, {&mapping.event, &event}}};
  for (const auto field : object) {
    for (size_t i = 0; i < wanted.size(); ++i) {
      const auto& [name, slot] = wanted[i];
      if (field.key != *name || *slot != nullptr || field.value.is_null()) continue;
      slots[i] = field.value;
      *slot = &slots[i];
      break;
    }
  }
}

Refusal PlayParser::Impl::read_id(const element* field, const std::string& name, std::string& digits, std::string_view& id) {
  if (field == nullptr) return refuse(Refusal::kMissingField, "field '" + name + "' is missing");
  switch (field->type()) {
    case element_type::STRING: id = field->get_string().value_unsafe(); break;
    case element_type::INT64:
      digits = std::to_string(field->get_int64().value_unsafe());
      id = digits;
      break;
    case element_type::UINT64:
      digits = std::to_string(field->get_uint64().value_unsafe());
      id = digits;
      break;
    default: return refuse(Refusal::kWrongType, "field '" + name + "' is neither a string nor an integer");
  }
  if (id.empty()) return refuse(Refusal::kEmptyId, "field '" + name + "' is empty");
  if (id.size() > kIdBytesMax) {
    return refuse(Refusal::kIdTooLong, "field '" + name + "' has " + std::to_string(id.size()) + " bytes, at most " +
                                           std::to_string(kIdBytesMax) + " are accepted");
  }
  if (has_nul(id)) return refuse(Refusal::kWrongType, "field '" + name + "' contains the character NUL");
  return Refusal::kNone;
}

Refusal PlayParser::Impl::read_time(int64_t now_ms, int64_t& time_ms) {
  if (time == nullptr) return refuse(Refusal::kMissingField, "field '" + mapping.time + "' is missing");
  switch (time->type()) {
    case element_type::INT64: time_ms = integer_to_ms(time->get_int64().value_unsafe(), mapping.time_unit); break;
    case element_type::UINT64: time_ms = kEventTimeEndMs; break;  // Above 2^63 in any unit: far ahead.
    case element_type::DOUBLE: time_ms = number_to_ms(time->get_double().value_unsafe(), mapping.time_unit); break;
    case element_type::STRING: {
      absl::Time parsed;
      std::string error;
      time_text = time->get_string().value_unsafe();
      // Abseil also takes the words infinite-future and infinite-past, which are no times.
      if (!absl::ParseTime(absl::RFC3339_full, time_text, &parsed, &error) || parsed == absl::InfiniteFuture() ||
          parsed == absl::InfinitePast()) {
        return refuse(Refusal::kWrongType, "field '" + mapping.time + "' is not an RFC 3339 time: " + error);
      }
      time_ms = absl::ToUnixMillis(parsed);
      break;
    }
    default: return refuse(Refusal::kWrongType, "field '" + mapping.time + "' is neither a number nor a string");
  }
  if (time_ms < kEventTimeMinMs) {
    return refuse(Refusal::kTimeTooEarly, "field '" + mapping.time + "' is before 2000; is events.time_unit right?");
  }
  if (time_ms > now_ms + mapping.ahead_ms || time_ms >= kEventTimeEndMs) {
    return refuse(Refusal::kTimeAhead, "field '" + mapping.time + "' is more than " + std::to_string(mapping.ahead_ms / 1000) +
                                           " s ahead of the clock; is events.time_unit right?");
  }
  return Refusal::kNone;
}

Refusal PlayParser::Impl::read_scene(std::string_view& out) {
  out = {};
  if (scene == nullptr) return Refusal::kNone;
  if (scene->get_string().get(out)) return refuse(Refusal::kWrongType, "field '" + mapping.scene + "' is not a string");
  if (out.size() > kIdBytesMax) return refuse(Refusal::kIdTooLong, "field '" + mapping.scene + "' is longer than 128 bytes");
  if (has_nul(out)) return refuse(Refusal::kWrongType, "field '" + mapping.scene + "' contains the character NUL");
  return Refusal::kNone;
}

Refusal PlayParser::Impl::read_kind(EventKind& kind) {
  kind = EventKind::kPlay;
  if (event == nullptr) return Refusal::kNone;
  std::string_view name;
  if (event->get_string().get(name)) return refuse(Refusal::kWrongType, "field '" + mapping.event + "' is not a string");
  if (name == "play") return Refusal::kNone;
  return refuse(Refusal::kUnknownEvent, "field '" + mapping.event + "' is '" + std::string(cut(name, 64)) + "', known is 'play'");
}

Refusal PlayParser::Impl::parse(std::string_view json, int64_t now_ms, Play& play) {
  element document;
  if (const Refusal r = parse_document(json, document); r != Refusal::kNone) return r;
  collect(document.get_object().value_unsafe());
  if (const Refusal r = read_id(user, mapping.user, user_digits, play.user); r != Refusal::kNone) return r;
  if (const Refusal r = read_id(item, mapping.item, item_digits, play.item); r != Refusal::kNone) return r;
  if (const Refusal r = read_time(now_ms, play.time_ms); r != Refusal::kNone) return r;
  if (const Refusal r = read_scene(play.scene); r != Refusal::kNone) return r;
  return read_kind(play.kind);
}

}  // namespace bloomring
