#include "pipeline/settings/settings.h"

namespace bloomring {

PlayMapping EventSettings::mapping() const {
  PlayMapping mapping{user, item, time, scene, event, time_unit, int64_t{ahead_seconds} * 1000, record_bytes_max};
  for (const auto& [name, word] : kinds) {
    if (is_kind(word)) mapping.kinds.emplace(name, mapped_kind(word));
  }
  mapping.view = {watched, duration, watched_unit, view_share_min, view_ms_min};
  mapping.scenes = scenes;
  mapping.forgets = forget;
  return mapping;
}

SceneRules EventSettings::scene_rules() const { return {!scene.empty(), scenes}; }

RetentionConfig Settings::retention() const {
  return {.time_zone = filter.time_zone,
          .unit = filter.period,
          .periods_read = filter.periods_read,
          .retention_periods = filter.retention_periods,
          .ahead_ms = int64_t{events.ahead_seconds} * 1000};
}

LegacyLayoutConfig Settings::legacy_layout() const {
  return {.keys = migrate.keys,
          .member = migrate.member,
          .score_unit = migrate.score_unit,
          .filter_keys = migrate.filter_keys,
          .scenes_part = !events.scene.empty(),
          .scenes = events.scenes};
}

std::optional<std::string> StoreSettings::folder() const {
  return kind == StoreKind::kEmbedded ? std::optional(path) : std::nullopt;
}

TlsClientFiles ServeSettings::peer_tls() const {
  if (!tls.enabled()) return {};
  return {tls_peer_ca.empty() ? tls.client_ca : tls_peer_ca, tls.certificate, tls.key};
}

Status check_runnable(const Settings& settings) {
  if (!settings.kafka.bootstrap.empty()) return {};
  return invalid("kafka.bootstrap is not set; name the brokers there, or in BLOOMRING_KAFKA_BOOTSTRAP");
}

}  // namespace bloomring
