#include "load/play_template.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

namespace bloomring {

namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMinuteMs = 60'000;

// Placeholders of values; no name has the control character.
constexpr std::array<const char*, 5> kHoleMarks = {"\x01user", "\x01item", "\x01time", "\x01watched", "\x01length"};

// Writes a field by its name or path. If an object of the path is another field already, it uses the whole path as the
// name, which ingest reads, too.
void set_field(Json& play, const std::string& path, const std::string& value) {
  Json* at = &play;
  size_t begin = 0;
  for (size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', begin)) {
    Json& inner = (*at)[path.substr(begin, dot - begin)];
    if ((!inner.is_null() && !inner.is_object()) || dot == begin || dot + 1 == path.size()) {
      play[path] = value;
      return;
    }
    at = &inner;
    begin = dot + 1;
  }
  (*at)[path.substr(begin)] = value;
}

// The site's name for the kind play, "" for a record without a kind. If only `*` means play, an unused name.
std::string play_kind(const PlayMapping& mapping) {
  for (const auto& [name, kind] : mapping.kinds) {
    if (kind == EventKind::kPlay && name != "*") return name;
  }
  std::string name = "play";
  while (mapping.kinds.contains(name)) name += "_";
  return name;
}

std::string scene_of(const PlayMapping& mapping) {
  const bool any = mapping.scenes.empty() || std::ranges::find(mapping.scenes, "") != mapping.scenes.end();
  return any ? "" : mapping.scenes.front();
}

void append_number(uint64_t number, std::string& out) {
  char digits[20];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

uint64_t in_unit(uint64_t ms, TimeUnit unit, bool round_up) {
  switch (unit) {
    case TimeUnit::kSeconds: return (ms + (round_up ? 999 : 0)) / 1'000;
    case TimeUnit::kMilliseconds: return ms;
    case TimeUnit::kMicroseconds: return ms * 1'000;
  }
  return ms;
}

}  // namespace

PlayTemplate::PlayTemplate(const PlayMapping& mapping)
    : view_(mapping.view), time_unit_(mapping.time_unit), scene_(scene_of(mapping)) {
  Json play;
  set_field(play, mapping.user, kHoleMarks[0]);
  set_field(play, mapping.item, kHoleMarks[1]);
  set_field(play, mapping.time, kHoleMarks[2]);
  if (!scene_.empty()) set_field(play, mapping.scene, scene_);
  const std::string kind = mapping.event.empty() ? "" : play_kind(mapping);
  if (!kind.empty()) set_field(play, mapping.event, kind);
  set_field(play, view_.watched.empty() ? "progress_ms" : view_.watched, kHoleMarks[3]);
  set_field(play, view_.duration.empty() ? "duration_ms" : view_.duration, kHoleMarks[4]);
  std::string rest = play.dump();
  for (size_t next = rest.find("\"\\u0001"); next != std::string::npos; next = rest.find("\"\\u0001")) {
    size_t hole = 0;
    while (hole + 1 < kHoles && !std::string_view(rest).substr(next).starts_with(Json(kHoleMarks[hole]).dump())) ++hole;
    pieces_.push_back({rest.substr(0, next), static_cast<Hole>(hole)});
    rest.erase(0, next + Json(kHoleMarks[hole]).dump().size());
  }
  tail_ = rest;
}

void PlayTemplate::write(std::string_view user, std::string_view item, int64_t time_ms, uint64_t watched_ms,
                         uint64_t duration_ms, std::string& json) const {
  if (view_.any()) watched_ms = duration_ms = std::max(duration_ms, static_cast<uint64_t>(view_.ms_min));
  json.clear();
  for (const Piece& piece : pieces_) {
    json += piece.text;
    switch (piece.hole) {
      case Hole::kUser: json += user; break;
      case Hole::kItem: json += item; break;
      case Hole::kTime: append_number(in_unit(static_cast<uint64_t>(time_ms), time_unit_, false), json); break;
      case Hole::kWatched:
        append_number(view_.watched.empty() ? watched_ms : in_unit(watched_ms, view_.unit, true), json);
        break;
      case Hole::kDuration:
        append_number(view_.duration.empty() ? duration_ms : in_unit(duration_ms, view_.unit, true), json);
        break;
    }
  }
  json += tail_;
}

std::string PlayTemplate::play(const std::string& user, const std::string& item, int64_t time_ms) const {
  std::string json;
  write(Json(user).dump(), Json(item).dump(), time_ms, kMinuteMs, kMinuteMs, json);
  return json;
}

}  // namespace bloomring
