#include "pipeline/settings/keys/event_keys.h"

#include <utility>
#include <vector>

#include "pipeline/settings/keys/value_rules.h"
#include "schemas/clock_scene.h"

namespace bloomring {
namespace {

constexpr int64_t kPlayBytesMax = 16 << 20;

std::string why_no_scene(const std::string& scene) {
  if (scene == kClockScene) return "is a name of bloomring's own: give the scene another one";
  return scene.size() <= kIdBytesMax ? "" : "must be at most 128 bytes";
}

const std::vector<std::pair<std::string, TimeUnit>> kTimeUnits = {
    {"ms", TimeUnit::kMilliseconds}, {"s", TimeUnit::kSeconds}, {"us", TimeUnit::kMicroseconds}};

void declare_scenes(Config& config, EventSettings& events) {
  config.string("events.scene", &events.scene)
      .doc(
          "Field with the scene, a namespace with filters of its own: an item that was played in one scene is "
          "unseen in all others, and a query must name its scene. `\"\"`: all scenes share their filters, an item "
          "that was played anywhere is seen everywhere, and the scene of a query does not matter. A later change "
          "hides stored plays.");
  config.list("events.scenes", &events.scenes)
      .check(why_no_scene)
      .doc(
          "The scenes of the site, with `\"\"` for records without one. A play of another scene is refused as "
          "`unknown_scene`; a query of another scene is refused, too. Empty: any name is a scene, also a misspelt "
          "one, except `bloomring-clock`, which ingest uses itself. A query about all scenes also reads stored "
          "scenes that were declared earlier.");
}

void declare_kinds(Config& config, EventSettings& events) {
  config.string("events.event", &events.event)
      .doc(
          "Field with the kind of event: `play`, `serve`, `forget` or `forget_all`. A record without the field is a "
          "play, unless `events.kinds` is set. `\"\"`: every record is a play.");
  config.map("events.kinds", &events.kinds)
      .doc(
          "The site's own names of kinds, as `{view: play, delete: forget, impression: ignore}`. Each stands for "
          "`play`, `serve`, `forget`, `forget_all`, or `ignore` for records that are skipped. `\"*\"` stands for "
          "any name that neither this map nor bloomring knows; without it, such a record is refused as "
          "`unknown_event`. `\"\"` stands for a record without the field; without it, such a record is refused as "
          "`missing_field`.");
  config.boolean("events.forget", &events.forget)
      .doc(
          "`false`: a forget in a topic of plays is refused as `forget_not_allowed`, so that a producer of plays "
          "cannot erase the history of a user. The call `Forget` is judged by `serve.access_file`.");
  config.string("events.watched", &events.watched)
      .doc("Field with the time watched: a number. `events.view_share_min` and `events.view_ms_min` need it.");
  config.string("events.duration", &events.duration)
      .doc("Field with the length of the item: a number. `events.view_share_min` needs it.");
  config.choice<TimeUnit>("events.watched_unit", &events.watched_unit, kTimeUnits)
      .doc("Unit of `events.watched` and `events.duration`.");
  config.real("events.view_share_min", &events.view_share_min)
      .real_range(0, 1)
      .doc(
          "Share of an item that a user must watch for a play to count. Shorter views are skipped and counted. 0: "
          "no such rule. Where `events.view_ms_min` is set, too, a play counts when it satisfies either.");
  config.integer("events.view_ms_min", &events.view_ms_min)
      .range(0, 86'400'000)
      .unit("milliseconds")
      .doc("Time that a user must watch for a play to count. 0: no such rule.");
}

}  // namespace

void declare_events(Config& config, EventSettings& events) {
  config.section("events", "The form of plays: the names of their JSON fields, and the bounds of their values.");
  const auto field = [&](const char* key, std::string* target, const char* doc) {
    config.string(key, target).check(must_not_be_empty).doc(doc);
  };
  field("events.user", &events.user,
        "Field with the user id: a string or an integer. Required in every play. A name with dots, here and below, "
        "is also a path: `user.id` is field `id` of the object in field `user`, unless the record has a field that "
        "is itself named `user.id`.");
  field("events.item", &events.item, "Field with the item id: a string or an integer. Required in every play.");
  field("events.time", &events.time,
        "Field with the event time: a number or an RFC 3339 string. Required in every play.");
  declare_scenes(config, events);
  declare_kinds(config, events);
  config.choice<TimeUnit>("events.time_unit", &events.time_unit, kTimeUnits)
      .doc("Unit of event times that are numbers, since 1970-01-01 UTC.");
  config.integer("events.ahead_seconds", &events.ahead_seconds)
      .range(0, 86400)
      .unit("seconds")
      .doc(
          "Time by which an event may usually be ahead of the brokers' clock. An event that is ahead by up to a day "
          "counts as now; `bloomring_ingest_ahead_total` separates those within this bound from those beyond it. A "
          "play that is ahead by more than a day is refused as `time_ahead`.");
  config.integer("events.clock_skew_max_seconds", &events.clock_skew_max_seconds)
      .range(1, 3600)
      .unit("seconds")
      .doc(
          "Largest difference between the clock of an ingest process and that of the brokers. Beyond it, the "
          "process reads no plays until the clocks agree, and reports the difference.");
  config.integer("events.record_bytes_max", &events.record_bytes_max)
      .range(64, kPlayBytesMax)
      .unit("bytes")
      .doc("Longest play record that is accepted. A longer one is refused as `too_large`.");
}

}  // namespace bloomring
