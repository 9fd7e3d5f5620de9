#include "schemas/legacy/legacy_layout.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "schemas/clock_scene.h"
#include "schemas/event.h"
#include "schemas/json/play_json.h"

namespace bloomring {

namespace {

constexpr std::array<std::string_view, kLegacyRefusalCount> kNames = {
    "none",          "foreign_key",    "wrong_type", "empty_id",       "id_too_long", "bad_text",
    "unknown_scene", "foreign_member", "not_a_time", "time_too_early", "time_ahead"};

// As Redis prints scores: "1649314823123", "1.6493148231230001e+18", "-inf".
std::optional<double> parse_score(std::string_view text) {
  double score = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, score);
  if (error != std::errc() || at != end || !std::isfinite(score)) return std::nullopt;
  return score;
}

bool is_text(std::string_view bytes) {
  return simdjson::validate_utf8(bytes.data(), bytes.size()) && bytes.find('\0') == std::string_view::npos;
}

// The glob of several patterns: what all of their keys begin with.
std::string common_glob(const std::vector<LegacyPattern>& patterns) {
  std::string_view common = patterns.front().prefix();
  for (const LegacyPattern& pattern : patterns) {
    const auto [end, other] = std::ranges::mismatch(common, pattern.prefix());
    common = common.substr(0, static_cast<size_t>(end - common.begin()));
  }
  return escape_glob(common) + "*";
}

}  // namespace

std::string_view legacy_refusal_name(LegacyRefusal refusal) { return kNames[static_cast<size_t>(refusal)]; }

LegacyRefusal check_legacy_id(std::string_view id) {
  if (id.empty()) return LegacyRefusal::kEmptyId;
  if (id.size() > kIdBytesMax) return LegacyRefusal::kIdTooLong;
  return is_text(id) ? LegacyRefusal::kNone : LegacyRefusal::kBadText;
}

Result<LegacyLayout> LegacyLayout::create(LegacyLayoutConfig config) {
  LegacyLayout layout(std::move(config));
  for (const std::string& text : layout.config_.keys) {
    auto pattern = LegacyPattern::of_keys(text);
    if (!pattern.ok()) return invalid("has " + text + "; it " + pattern.status().message());
    layout.keys_.push_back(std::move(*pattern));
  }
  for (const std::string& text : layout.config_.filter_keys) {
    auto pattern = LegacyPattern::of_keys(text);
    if (!pattern.ok()) return invalid("has " + text + "; it " + pattern.status().message());
    layout.filter_keys_.push_back(std::move(*pattern));
  }
  if (layout.keys_.empty()) return invalid("is empty; it must have a pattern, as hist:{user}");
  auto member = LegacyPattern::of_members(layout.config_.member);
  if (!member.ok()) return invalid("is " + layout.config_.member + "; it " + member.status().message());
  layout.member_.push_back(std::move(*member));
  return layout;
}

LegacyRefusal LegacyLayout::check_scene(std::string_view scene) const {
  if (scene.size() > kIdBytesMax) return LegacyRefusal::kIdTooLong;
  if (!is_text(scene)) return LegacyRefusal::kBadText;
  const std::vector<std::string>& known = config_.scenes;
  const bool accepted = known.empty() || std::ranges::find(known, scene) != known.end();
  return accepted && scene != kClockScene ? LegacyRefusal::kNone : LegacyRefusal::kUnknownScene;
}

LegacyRefusal LegacyLayout::read_key(std::string_view key, UserKey& user) const {
  LegacyIds ids;
  const auto matches = [&](const LegacyPattern& pattern) {
    ids = {};
    return pattern.match(key, ids);
  };
  if (std::ranges::none_of(keys_, matches)) return LegacyRefusal::kForeignKey;
  const LegacyRefusal refusal = check_legacy_id(ids.user);
  if (refusal != LegacyRefusal::kNone) return refusal;
  if (!config_.scenes_part) ids.scene = {};
  user = UserKey();
  if (const LegacyRefusal scene = check_scene(ids.scene); scene != LegacyRefusal::kNone) return scene;
  user = UserKey(ids.scene, ids.user);
  return LegacyRefusal::kNone;
}

LegacyRefusal LegacyLayout::read_member(std::string_view member, std::string_view score, int64_t now_ms,
                                        LegacyPlay& play) const {
  LegacyIds ids;
  if (!member_.front().match(member, ids)) return LegacyRefusal::kForeignMember;
  const LegacyRefusal refusal = check_legacy_id(ids.item);
  if (refusal != LegacyRefusal::kNone) return refusal;
  const std::optional<double> number = parse_score(score);
  if (!number) return LegacyRefusal::kNotATime;
  const int64_t time_ms = number_to_ms(*number, config_.score_unit);
  if (time_ms < kEventTimeMinMs) return LegacyRefusal::kTimeTooEarly;
  if (time_ms > now_ms + kEventAheadMaxMs || time_ms >= kEventTimeEndMs) return LegacyRefusal::kTimeAhead;
  const bool whole_second = config_.score_unit == TimeUnit::kSeconds && *number == std::floor(*number);
  play = {ids.item, std::min(whole_second ? time_ms + 999 : time_ms, now_ms)};
  return LegacyRefusal::kNone;
}

std::string LegacyLayout::key_of(std::string_view scene, std::string_view user) const {
  for (const LegacyPattern& pattern : keys_)
    if (pattern.has_scene() || scene.empty()) return pattern.fill({.user = user, .scene = scene});
  return {};
}

std::vector<std::string> LegacyLayout::keys_of(std::string_view scene, std::string_view user) const {
  std::vector<std::string> keys;
  if (scene.size() > kIdBytesMax || user.size() > kIdBytesMax) return keys;
  const UserKey wanted(config_.scenes_part ? scene : std::string_view(), user);
  for (const LegacyPattern& pattern : keys_) {
    std::string key = pattern.fill({.user = user, .scene = scene});
    UserKey read;
    if (read_key(key, read) == LegacyRefusal::kNone && read == wanted) keys.push_back(std::move(key));
  }
  return keys;
}

std::vector<std::string> LegacyLayout::filter_keys_of(std::string_view scene, std::string_view user) const {
  std::vector<std::string> keys;
  for (const LegacyPattern& pattern : filter_keys_)
    if (pattern.has_scene() || scene.empty() || !config_.scenes_part)
      keys.push_back(pattern.fill({.user = user, .scene = scene}));
  return keys;
}

std::string LegacyLayout::member_of(std::string_view item) const { return member_.front().fill({.item = item}); }

std::string LegacyLayout::score_of(int64_t time_ms) const {
  if (config_.score_unit == TimeUnit::kMicroseconds) return std::to_string(time_ms * 1'000);
  if (config_.score_unit == TimeUnit::kMilliseconds) return std::to_string(time_ms);
  return std::to_string(time_ms / 1'000);
}

// A whole second counts at its end, so its time is later from the last millisecond of the second before on.
std::string LegacyLayout::score_after(int64_t time_ms) const {
  if (config_.score_unit == TimeUnit::kSeconds) return std::to_string((time_ms + 1) / 1'000);
  return score_of(time_ms + 1);
}

std::string LegacyLayout::glob() const {
  return keys_.size() == 1 ? keys_.front().glob() : common_glob(keys_);
}

}  // namespace bloomring
