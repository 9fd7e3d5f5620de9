#include "cli/inspect/erasure_report.h"

#include <algorithm>

#include "base/hash.h"
#include "base/ids.h"
#include "pipeline/topics/topic_check.h"

namespace bloomring::cli {

namespace {

using Json = nlohmann::ordered_json;

Json row(const std::string& where, const std::string& what, int64_t until_ms) {
  return {{"where", where}, {"what", what}, {"until_ms", until_ms}};
}
Json row(const std::string& where, const std::string& what, const std::string& until) {
  return {{"where", where}, {"what", what}, {"until", until}};
}

// The event time up to which everything is forgotten in the scene; 0 where it is not.
int64_t everything_until_ms(const Json& scene) {
  return scene.contains("forgotten") ? scene["forgotten"].value("everything_until_ms", int64_t{0}) : 0;
}

void add_store(const Calendar& calendar, const ErasureFacts& facts, Json& rows) {
  int64_t filters = 0, expire_ms = 0, forgotten_expire_ms = 0;
  for (const Json& scene : facts.scenes) {
    for (const Json& filter : scene["filters"]) {
      ++filters;
      expire_ms = std::max(expire_ms, filter.value("expires_ms", int64_t{0}));
    }
    int64_t newest_ms = everything_until_ms(scene);
    for (const Json& item : scene["forgotten"]["items"])
      newest_ms = std::max(newest_ms, item.value("until_ms", int64_t{0}));
    if (newest_ms == 0) continue;
    const uint64_t hash = user_hash(UserKey(scene.value("scene", ""), facts.user).bytes());
    forgotten_expire_ms =
        std::max(forgotten_expire_ms, calendar.expires_at_ms(hash, calendar.period_of_ms(newest_ms)));
  }
  if (filters > 0) rows.push_back(row("filter store", std::to_string(filters) + " filters", expire_ms));
  if (forgotten_expire_ms > 0)
    rows.push_back(row("filter store", "the user's id and what it has forgotten", forgotten_expire_ms));
}

void add_files(const Settings& settings, const ErasureFacts& facts, Json& rows) {
  if (!facts.deleted_since_ms) return;
  const std::string what = "bytes of deleted filters of users of the same range, perhaps of this one";
  const int64_t step_ms = settings.store.erase_step_ms();
  rows.push_back(step_ms > 0 ? row("files of the filter store", what, *facts.deleted_since_ms + step_ms)
                             : row("files of the filter store", what,
                                   "they are compacted: store.erase_within_seconds is not set"));
}

void add_backups(const Settings& settings, const ErasureFacts& facts, Json& rows) {
  const int64_t step_ms = settings.store.erase_step_ms();
  for (const StoreBackup& backup : facts.backups) {
    Json one = {{"where", "backup " + std::to_string(backup.id)},
                {"what", "what the filter store held when it was taken"},
                {"taken_ms", backup.time_ms}};
    const bool newest = backup.id == facts.backups.back().id;
    if (step_ms > 0 && !newest) {
      one["until_ms"] = backup.time_ms + step_ms;
    } else {
      one["until"] = step_ms > 0 ? "a newer backup is taken"
                                 : std::to_string(settings.store.backups_kept) + " newer backups are taken";
    }
    rows.push_back(std::move(one));
  }
}

void add_topic(const std::string& topic, const std::string& what, int64_t last_ms, int64_t retention_ms, Json& rows) {
  rows.push_back(last_ms > 0 ? row("topic " + topic, what, last_ms + retention_ms)
                             : row("topic " + topic, what,
                                   std::to_string(retention_ms / 3'600'000) + " hours after the user's last event"));
}

void add_topics(const Settings& settings, const ErasureFacts& facts, Json& rows) {
  const int64_t retention_ms = int64_t{settings.topics.retention_hours} * 3'600'000;
  int64_t last_ms = 0;
  for (const Json& scene : facts.scenes) last_ms = std::max(last_ms, everything_until_ms(scene));
  const auto active = [](const Json& scene) {
    return !scene["filters"].empty() || !scene.value("recent", Json::array()).empty();
  };
  if (std::ranges::any_of(facts.scenes, active)) last_ms = 0;
  for (const TopicSpec& topic : topics_of(settings)) {
    const std::string what(topic.row->of_a_user);
    if (topic.of_the_site()) {
      rows.push_back(row("topic " + topic.name, what, "its retention ends: the site's"));
    } else {
      add_topic(topic.name, what, last_ms, topic.row->retention_factor * retention_ms, rows);
    }
  }
}

void add_memory(const ErasureFacts& facts, Json& rows) {
  size_t recent = 0, served = 0;
  for (const Json& scene : facts.scenes) {
    recent += scene.value("recent", Json::array()).size();
    served += scene.value("served", Json::array()).size();
  }
  const std::string what = std::to_string(recent) + " plays and " + std::to_string(served) + " served items";
  const std::string until = "a lap after they are merged; served items for served.max_age_seconds";
  rows.push_back(row("memory of replicas", what, until));
  rows.push_back(row("state of the window stage", "blocks of the user, if any", "they are merged and compacted"));
  rows.push_back(row("snapshots of clients", "filters and plays, if any", "the client drops them"));
}

}  // namespace

Json erasure_report(const Settings& settings, const Calendar& calendar, const ErasureFacts& facts) {
  Json rows = Json::array();
  add_store(calendar, facts, rows);
  add_files(settings, facts, rows);
  add_backups(settings, facts, rows);
  add_topics(settings, facts, rows);
  add_memory(facts, rows);
  return rows;
}

}  // namespace bloomring::cli
