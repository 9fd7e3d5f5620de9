#include "schemas/json/play_json.h"

#include <absl/time/time.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "schemas/clock_scene.h"
#include "schemas/json/json_fields.h"

namespace bloomring {

namespace {

constexpr std::array<std::string_view, kSkipCount> kSkipNames = {"none", "ignored_kind", "short_view"};

// In the order of EventKind, from 1.
constexpr std::array<std::string_view, kEventKindMax> kEventNames = {"play", "serve", "forget", "forget_all"};

// A time that was accepted has no finer part than its second: the event may have happened anywhere within it.
bool is_whole_second(const JsonField& time, TimeUnit unit) {
  if (time.type == JsonField::Type::kString) return time.text.find('.') == std::string_view::npos;
  if (unit != TimeUnit::kSeconds) return false;
  return time.type == JsonField::Type::kInt64 || time.number == std::floor(time.number);
}

// At most `bytes_max` bytes of valid UTF-8, cut between characters.
std::string_view cut(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xc0) == 0x80) --bytes_max;
  return text.substr(0, bytes_max);
}

// Queries cannot ask for it (schemas/bloomring/v1/bloomring.proto).
bool has_nul(std::string_view id) { return id.find('\0') != std::string_view::npos; }

constexpr std::string_view kRepeated = "more than once in the record";
constexpr std::string_view kMissing = "field missing";
constexpr std::string_view kNul = "contains the character NUL";

std::string too_long(size_t bytes) {
  return std::to_string(bytes) + " bytes, at most " + std::to_string(kIdBytesMax) + " are accepted";
}

void take_kind(const MappedKind& kind, Play& play) {
  if (kind) {
    play.kind = *kind;
  } else {
    play.skip = Skip::kIgnoredKind;
  }
}

}  // namespace

std::string_view skip_name(Skip skip) { return kSkipNames[static_cast<size_t>(skip)]; }

std::string_view event_name(EventKind kind) { return kEventNames[static_cast<size_t>(kind) - 1]; }

bool is_kind(std::string_view word) {
  return word == "ignore" || std::ranges::find(kEventNames, word) != kEventNames.end();
}

MappedKind mapped_kind(std::string_view word) {
  const auto known = std::ranges::find(kEventNames, word);
  if (known == kEventNames.end()) return std::nullopt;
  return static_cast<EventKind>(1 + (known - kEventNames.begin()));
}

struct PlayParser::Impl {
  explicit Impl(PlayMapping m) : mapping(std::move(m)), fields(names_of(mapping)) {}

  static std::vector<std::string> names_of(const PlayMapping& mapping) {
    std::vector<std::string> names = {mapping.user, mapping.item, mapping.time, mapping.scene, mapping.event};
    if (mapping.view.any()) names.insert(names.end(), {mapping.view.watched, mapping.view.duration});
    return names;
  }

  Refusal refuse(Refusal refusal, std::string text) {
    key = {};
    detail = std::move(text);
    return refusal;
  }
  // A field: the key that names it, and its name.
  struct Named {
    std::string_view key;
    const std::string& name;
  };
  Refusal refuse(Refusal refusal, const Named& field, std::string_view text) {
    key = field.key;
    detail = std::string(field.key) + " '" + field.name + "': ";
    detail += text;
    return refusal;
  }
  Refusal parse(std::string_view json, int64_t now_ms, Play& play);
  Refusal read_fields(std::string_view json);
  Refusal refuse_repeated();
  Refusal read_id(const JsonField& field, const Named& named, std::string& digits, std::string_view& id);
  Refusal read_time(const JsonField& field, int64_t now_ms, int64_t& time_ms);
  Refusal read_scene(const JsonField& field, std::string_view& scene);
  Refusal read_kind(const JsonField& field, Play& play);
  Refusal read_no_kind(Play& play);
  Refusal unknown_kind(std::string_view found);
  Refusal check_forget(EventKind kind);
  Refusal check_scene(std::string_view scene);
  Refusal read_amount(const JsonField& field, const Named& named, double& ms);
  Refusal judge_view(const JsonField& watched, const JsonField& duration, Skip& skip);

  PlayMapping mapping;
  JsonFields fields;  // In the order user, item, time, scene, event; where a rule asks, watched, duration.
  std::string detail;
  std::string_view key;  // A literal.
  std::string user_digits;
  std::string item_digits;
  std::string time_text;
};

PlayParser::PlayParser(PlayMapping mapping) : impl_(std::make_unique<Impl>(std::move(mapping))) {}
PlayParser::~PlayParser() = default;
PlayParser::PlayParser(PlayParser&&) noexcept = default;
PlayParser& PlayParser::operator=(PlayParser&&) noexcept = default;
const std::string& PlayParser::detail() const { return impl_->detail; }
std::string_view PlayParser::key() const { return impl_->key; }
Refusal PlayParser::parse(std::string_view json, int64_t now_ms, Play& play) {
  return impl_->parse(json, now_ms, play);
}

Refusal PlayParser::Impl::read_fields(std::string_view json) {
  if (json.size() > mapping.record_bytes_max) {
    return refuse(Refusal::kTooLarge, "the record has " + std::to_string(json.size()) +
                                          " bytes, events.record_bytes_max allows " +
                                          std::to_string(mapping.record_bytes_max));
  }
  switch (fields.read(json)) {
    case JsonOutcome::kObject: return Refusal::kNone;
    case JsonOutcome::kNotUtf8: return refuse(Refusal::kNotUtf8, "the record is not UTF-8");
    case JsonOutcome::kMalformed: break;
  }
  return refuse(Refusal::kMalformedJson, fields.detail());
}

// A check of the record before it came here may have taken another one of the repeated values.
Refusal PlayParser::Impl::refuse_repeated() {
  const Named named[] = {{"events.user", mapping.user},          {"events.item", mapping.item},
                         {"events.time", mapping.time},          {"events.scene", mapping.scene},
                         {"events.event", mapping.event},        {"events.watched", mapping.view.watched},
                         {"events.duration", mapping.view.duration}};
  const std::span<const JsonField> found = fields.fields();
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].type == JsonField::Type::kRepeated) return refuse(Refusal::kRepeatedField, named[i], kRepeated);
  }
  return Refusal::kNone;
}

Refusal PlayParser::Impl::read_id(const JsonField& field, const Named& named, std::string& digits,
                                  std::string_view& id) {
  switch (field.type) {
    case JsonField::Type::kAbsent: return refuse(Refusal::kMissingField, named, kMissing);
    case JsonField::Type::kString: id = field.text; break;
    case JsonField::Type::kInt64: id = digits = std::to_string(field.int64); break;
    case JsonField::Type::kUint64: id = digits = std::to_string(field.uint64); break;
    default: return refuse(Refusal::kWrongType, named, "neither a string nor an integer");
  }
  if (id.empty()) return refuse(Refusal::kEmptyId, named, "empty");
  if (id.size() > kIdBytesMax) return refuse(Refusal::kIdTooLong, named, too_long(id.size()));
  if (has_nul(id)) return refuse(Refusal::kWrongType, named, kNul);
  return Refusal::kNone;
}

Refusal PlayParser::Impl::read_time(const JsonField& field, int64_t now_ms, int64_t& time_ms) {
  const Named named{"events.time", mapping.time};
  switch (field.type) {
    case JsonField::Type::kAbsent: return refuse(Refusal::kMissingField, named, kMissing);
    case JsonField::Type::kInt64: time_ms = integer_to_ms(field.int64, mapping.time_unit); break;
    case JsonField::Type::kUint64: time_ms = kEventTimeEndMs; break;  // Above 2^63 in any unit: far ahead.
    case JsonField::Type::kDouble: time_ms = number_to_ms(field.number, mapping.time_unit); break;
    case JsonField::Type::kString: {
      absl::Time parsed;
      std::string error;
      time_text = field.text;
      // Abseil also takes the words infinite-future and infinite-past, which are no times.
      if (!absl::ParseTime(absl::RFC3339_full, time_text, &parsed, &error) || parsed == absl::InfiniteFuture() ||
          parsed == absl::InfinitePast()) {
        return refuse(Refusal::kWrongType, named, "not an RFC 3339 time: " + error);
      }
      time_ms = absl::ToUnixMillis(parsed);
      break;
    }
    case JsonField::Type::kRepeated: return refuse(Refusal::kRepeatedField, named, kRepeated);
    case JsonField::Type::kOther: return refuse(Refusal::kWrongType, named, "neither a number nor a string");
  }
  if (time_ms < kEventTimeMinMs) {
    return refuse(Refusal::kTimeTooEarly, named, "before 2000, is events.time_unit right?");
  }
  if (time_ms > now_ms + kEventAheadMaxMs || time_ms >= kEventTimeEndMs) {
    return refuse(Refusal::kTimeAhead, named, "more than a day ahead of the clock, is events.time_unit right?");
  }
  return Refusal::kNone;
}

Refusal PlayParser::Impl::read_scene(const JsonField& field, std::string_view& scene) {
  const Named named{"events.scene", mapping.scene};
  scene = {};
  if (field.type == JsonField::Type::kAbsent) return Refusal::kNone;
  if (field.type != JsonField::Type::kString) return refuse(Refusal::kWrongType, named, "not a string");
  if (field.text.size() > kIdBytesMax) return refuse(Refusal::kIdTooLong, named, too_long(field.text.size()));
  if (has_nul(field.text)) return refuse(Refusal::kWrongType, named, kNul);
  scene = field.text;
  return Refusal::kNone;
}

Refusal PlayParser::Impl::check_scene(std::string_view scene) {
  if (scene == kClockScene) {
    return refuse(Refusal::kUnknownScene, {"events.scene", mapping.scene},
                  "'" + std::string(scene) + "' is a name of bloomring's own, give the scene another one");
  }
  if (mapping.scenes.empty() || std::ranges::find(mapping.scenes, scene) != mapping.scenes.end()) return Refusal::kNone;
  const Named named{"events.scene", mapping.scene};
  if (scene.empty()) return refuse(Refusal::kUnknownScene, named, "field missing, and events.scenes has no \"\"");
  return refuse(Refusal::kUnknownScene, named, "'" + std::string(cut(scene, 64)) + "' is none of events.scenes");
}

Refusal PlayParser::Impl::unknown_kind(std::string_view found) {
  std::string known;
  for (const auto& [name, kind] : mapping.kinds) known += (known.empty() ? " (" : ", ") + ("'" + name + "'");
  return refuse(Refusal::kUnknownEvent, {"events.event", mapping.event},
                "'" + std::string(cut(found, 64)) + "' is none of events.kinds" + known + (known.empty() ? "" : ")") +
                    ", nor play, serve, forget or forget_all");
}

// A site that names its kinds needs a name in every record, or a kind for records without one: otherwise a misspelt
// events.event would turn every record into a play.
Refusal PlayParser::Impl::read_no_kind(Play& play) {
  if (mapping.kinds.empty()) return Refusal::kNone;
  const auto own = mapping.kinds.find("");
  if (own == mapping.kinds.end()) {
    return refuse(Refusal::kMissingField, {"events.event", mapping.event},
                  "field missing, and events.kinds has no \"\"");
  }
  take_kind(own->second, play);
  return Refusal::kNone;
}

// The site's own names take precedence over bloomring's.
Refusal PlayParser::Impl::read_kind(const JsonField& field, Play& play) {
  play.kind = EventKind::kPlay;
  play.skip = Skip::kNone;
  if (mapping.event.empty()) return Refusal::kNone;
  if (field.type == JsonField::Type::kRepeated)
    return refuse(Refusal::kRepeatedField, {"events.event", mapping.event}, kRepeated);
  if (field.type == JsonField::Type::kAbsent) return read_no_kind(play);
  if (field.type != JsonField::Type::kString)
    return refuse(Refusal::kWrongType, {"events.event", mapping.event}, "not a string");
  if (const auto own = mapping.kinds.find(field.text); own != mapping.kinds.end()) {
    take_kind(own->second, play);
  } else if (const auto known = std::ranges::find(kEventNames, field.text); known != kEventNames.end()) {
    play.kind = static_cast<EventKind>(1 + (known - kEventNames.begin()));
  } else if (const auto others = mapping.kinds.find("*"); others != mapping.kinds.end()) {
    take_kind(others->second, play);
  } else {
    return unknown_kind(field.text);
  }
  return Refusal::kNone;
}

Refusal PlayParser::Impl::check_forget(EventKind kind) {
  if (mapping.forgets || (kind != EventKind::kForget && kind != EventKind::kForgetAll)) return Refusal::kNone;
  return refuse(Refusal::kForgetNotAllowed, {"events.event", mapping.event},
                "a forget, and events.forget takes none from topics of plays");
}

Refusal PlayParser::Impl::read_amount(const JsonField& field, const Named& named, double& ms) {
  double amount = 0;
  switch (field.type) {
    case JsonField::Type::kAbsent: return refuse(Refusal::kMissingField, named, kMissing);
    case JsonField::Type::kInt64: amount = static_cast<double>(field.int64); break;
    case JsonField::Type::kUint64: amount = static_cast<double>(field.uint64); break;
    case JsonField::Type::kDouble: amount = field.number; break;
    default: return refuse(Refusal::kWrongType, named, "not a number");
  }
  if (amount < 0) return refuse(Refusal::kWrongType, named, "below 0");
  ms = amount * 1'000.0 / static_cast<double>(units_per_second(mapping.view.unit));
  return Refusal::kNone;
}

Refusal PlayParser::Impl::judge_view(const JsonField& watched, const JsonField& duration, Skip& skip) {
  const ViewRule& view = mapping.view;
  double watched_ms = 0, duration_ms = 0;
  if (const Refusal r = read_amount(watched, {"events.watched", view.watched}, watched_ms); r != Refusal::kNone)
    return r;
  if (view.ms_min > 0 && watched_ms >= static_cast<double>(view.ms_min)) return Refusal::kNone;
  skip = Skip::kShortView;
  if (view.share_min <= 0) return Refusal::kNone;
  if (const Refusal r = read_amount(duration, {"events.duration", view.duration}, duration_ms); r != Refusal::kNone)
    return r;
  constexpr double kRoundingMs = 1e-6;  // 0.1 x 3 is above 0.3.
  if (watched_ms + kRoundingMs >= view.share_min * duration_ms) skip = Skip::kNone;
  return Refusal::kNone;
}

Refusal PlayParser::Impl::parse(std::string_view json, int64_t now_ms, Play& play) {
  if (const Refusal r = read_fields(json); r != Refusal::kNone) return r;
  const std::span<const JsonField> found = fields.fields();
  if (const Refusal r = read_kind(found[4], play); r != Refusal::kNone) return r;
  if (play.skip != Skip::kNone) return Refusal::kNone;
  if (const Refusal r = refuse_repeated(); r != Refusal::kNone) return r;
  if (const Refusal r = check_forget(play.kind); r != Refusal::kNone) return r;
  if (const Refusal r = read_id(found[0], {"events.user", mapping.user}, user_digits, play.user); r != Refusal::kNone)
    return r;
  play.item = {};
  if (play.kind != EventKind::kForgetAll) {
    if (const Refusal r = read_id(found[1], {"events.item", mapping.item}, item_digits, play.item); r != Refusal::kNone)
      return r;
  }
  if (const Refusal r = read_time(found[2], now_ms, play.time_ms); r != Refusal::kNone) return r;
  play.latest_ms = play.time_ms + (is_whole_second(found[2], mapping.time_unit) ? 999 : 0);
  if (const Refusal r = read_scene(found[3], play.scene); r != Refusal::kNone) return r;
  if (const Refusal r = check_scene(play.scene); r != Refusal::kNone) return r;
  if (!mapping.view.any() || play.kind != EventKind::kPlay) return Refusal::kNone;
  return judge_view(found[5], found[6], play.skip);
}

}  // namespace bloomring
