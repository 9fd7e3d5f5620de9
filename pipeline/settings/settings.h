// Every setting of bloomring, typed, with its default. pipeline/settings/keys binds each configuration key to a field
// here, checks the values and loads them (load_settings.h).
//
// Threading: values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "client/tls_files.h"
#include "pipeline/settings/topic_settings.h"
#include "pipeline/settings/topology.h"
#include "schemas/json/play_json.h"
#include "schemas/legacy/legacy_layout.h"
#include "serving/query/known_scenes.h"
#include "state/period.h"

namespace bloomring {

enum class StoreKind : uint8_t { kEmbedded, kRedis };

struct KafkaSettings {
  std::string bootstrap;                          // "host:port,host:port"; empty when nothing names a broker.
  std::map<std::string, std::string> properties;  // Passed to librdkafka unchanged.
  std::string group_prefix = "bloomring";

  // The name of a stage's consumer group: "bloomring-window".
  std::string group(std::string_view stage) const { return group_prefix + "-" + std::string(stage); }
};

// The format of a site's events. Fields are names or paths (schemas/json/json_fields.h).
struct EventSettings {
  std::string user = "user";
  std::string item = "item";
  std::string time = "time";
  std::string scene = "scene";      // Empty: all scenes share filters.
  std::vector<std::string> scenes;  // The only allowed ones; empty: any.
  std::string event = "event";      // Empty: every record is a play.
  std::map<std::string, std::string> kinds;  // The site's names of kinds; see mapped_kind.
  bool forget = true;  // Takes forgets from topics of plays.
  std::string watched;
  std::string duration;
  TimeUnit watched_unit = TimeUnit::kMilliseconds;  // Of numbers in `watched` and `duration`.
  double view_share_min = 0;                        // 0: no such rule.
  uint32_t view_ms_min = 0;                         // 0: no such rule.
  TimeUnit time_unit = TimeUnit::kMilliseconds;  // Of numbers in `time`.
  uint32_t ahead_seconds = 600;                  // How far ahead of the clock event times may usually be.
  uint32_t clock_skew_max_seconds = 60;          // How far the clocks of ingest and brokers may differ.
  uint32_t record_bytes_max = 65536;

  PlayMapping mapping() const;
  SceneRules scene_rules() const;
};

struct IngestSettings {
  uint32_t block_events = 4096;
  uint32_t block_bytes = 262144;
  uint32_t linger_ms = 50;
  bool drop_repeats = true;
  double refused_share_max = 0.1;  // Of a minute's records; above it the process reports degraded.
};

struct RingSettings {
  uint32_t slots = 6;
  uint32_t slot_seconds = 3600;
  double drain_spread = 0.5;  // Fraction of a slot over which a drain is spread.
  int64_t slot_ms() const { return static_cast<int64_t>(slot_seconds) * 1000; }
  int64_t lap_ms() const { return slot_ms() * slots; }
};

struct FilterSettings {
  double false_positive_rate = 0.01;  // Over everything one query reads.
  uint32_t periods_read = 4;
  PeriodUnit period = PeriodUnit::kMonth;
  uint32_t retention_periods = 6;
  std::string time_zone = "UTC";
  uint32_t dense_from_items = 4096;
};

// Of store.kind redis.
struct RedisSettings {
  std::vector<std::string> addresses;  // "host:port"; any server of a cluster, or a primary and its replicas.
  std::string user;                    // Empty: the default user.
  std::string password_file;           // Empty: no login.
  std::string prefix = "bloomring:";
  uint32_t min_replicas = 0;
  bool read_replicas = false;
  uint32_t hedge_after_ms = 0;  // 0: no read is asked a second time.
  uint32_t hedge_percent = 5;
  uint32_t connections_max = 4;
  uint32_t timeout_ms = 1000;
};

struct StoreSettings {
  StoreKind kind = StoreKind::kEmbedded;
  std::string path = "/var/lib/bloomring/store";
  std::string backup_path;  // No backups when empty.
  uint32_t backups_kept = 24;
  uint64_t backup_bytes_per_second = 64 << 20;  // 0: unlimited.
  uint32_t backup_interval_seconds = 60;        // Least time between the starts of two backups by the admin port.
  uint32_t erase_within_seconds = 0;            // 0: as compactions come.
  // Half of the deadline is for the store's files, half for the backups of before.
  int64_t erase_step_ms() const { return int64_t{erase_within_seconds} * 500; }
  uint64_t write_bytes_per_second = 0;  // To servers, of the whole installation; 0: unlimited.
  uint64_t plan_users_per_slot = 0;     // For the arithmetic of `check`; 0: not known.
  uint32_t plan_filter_bytes = 2048;
  RedisSettings redis;

  // The folder of this machine that the store is in; nothing for a store on servers.
  std::optional<std::string> folder() const;
};

struct StateSettings {
  std::string path = "/var/lib/bloomring/state";
  uint32_t flush_seconds = 30;
  bool accept_lost_events = false;  // Continue when the log no longer has unmerged events.
};

struct ThreadSettings {
  uint32_t window = 1;
  uint32_t merge = 1;
};

struct ServeSettings {
  std::string listen = "127.0.0.1:7700";
  bool insecure = false;    // Listens without TLS beyond this machine.
  std::string access_file;  // The rights of callers; see serving/admission/access.h. Empty: no such list.
  uint32_t replica_index = 0;
  uint32_t replica_count = 1;
  uint32_t replication_factor = 1;
  uint32_t candidates_max = 20000;
  uint32_t batch_ids_max = 200000;
  uint64_t request_bytes_max = 8 * 1048576;
  uint32_t wait_ms = 100;  // Of a call that finds no room.
  std::vector<std::string> peers;  // Addresses of the replicas; see serving/query/peer_addresses.h.
  TlsServerFiles tls;              // Of the gRPC port.
  std::string tls_peer_ca;         // CA of the other replicas' certificates; tls.client_ca when empty.
  bool reflection = false;         // Of the gRPC port.
  uint32_t drain_seconds = 5;      // How long it answers calls after it was told to stop.

  // For calls to other replicas: TLS as on its own port, with its own certificate.
  TlsClientFiles peer_tls() const;
};

// The canary of a process that takes calls (pipeline/canary).
struct CanarySettings {
  uint32_t interval_seconds = 0;  // Between the starts of two plays; 0: no canary.
  uint32_t timeout_seconds = 30;
  std::string server;  // Empty: the process's own gRPC port.
  bool on() const { return interval_seconds > 0; }
};

// The bounds of the served items that count as seen.
struct ServedSettings {
  uint32_t per_user_max = 100;
  uint32_t max_age_seconds = 6 * 3600;
  int64_t max_age_ms() const { return int64_t{max_age_seconds} * 1000; }
};

struct MemorySettings {
  uint64_t limit = 2048ull * 1048576;  // Of resident memory of the process; the parts are derived (memory_plan.h).
  uint32_t partitions = 0;             // Most partitions of a topic to plan for; 0: all.
};

struct ProcessSettings {
  uint32_t stall_seconds = 60;  // A task without a step for so long makes the process unhealthy.
  uint32_t start_seconds = 60;  // How long the start may wait; 0: for ever.
  uint32_t stop_seconds = 25;   // How long the stop may take after SIGTERM.
  bool core_dumps = false;      // A crash may leave the memory of the process in a file.
};

struct AdminSettings {
  std::string listen = "127.0.0.1:9600";
  std::string health_listen;  // Empty: /healthz and /readyz at `listen` alone.
  std::string token_file;     // Empty: see pipeline/admin/admin_token.h.
  std::vector<std::string> hosts;  // See pipeline/admin/host_names.h.
};

struct MetricsSettings {
  bool per_partition = true;
};

struct LogSettings {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;
};

// The old store of a site, from which its history is migrated.
struct MigrateSettings {
  std::vector<std::string> addresses;  // "host:port"; any server of a cluster, or a primary and its replicas.
  std::string user;                    // Empty: the default user.
  std::string password_file;           // Empty: no login.
  uint32_t timeout_ms = 10'000;
  std::vector<std::string> keys = {"hist:{user}"};  // Patterns; see schemas/legacy/legacy_pattern.h.
  std::vector<std::string> filter_keys;             // The same, of RedisBloom filters; asked by `bloomring shadow`.
  std::string member = "{item}";
  TimeUnit score_unit = TimeUnit::kMilliseconds;
  uint32_t page_members = 1'000;
  uint32_t users_at_once = 64;
  bool read_through = false;  // Queries read the sets of users that are not migrated yet.
  uint32_t read_through_timeout_ms = 100;
  uint32_t read_through_members_max = 10'000;  // Of each set.
  uint32_t read_through_users_max = 16;        // At once.
  uint32_t export_members_max = 0;  // Of each set that an export writes; 0: all.
  uint32_t export_ttl_hours = 0;    // 0: no set expires.
};

struct Settings {
  KafkaSettings kafka;
  TopicSettings topics;
  EventSettings events;
  IngestSettings ingest;
  RingSettings ring;
  FilterSettings filter;
  StoreSettings store;
  StateSettings state;
  ThreadSettings threads;
  ServeSettings serve;
  CanarySettings canary;
  ServedSettings served;
  MemorySettings memory;
  ProcessSettings process;
  AdminSettings admin;
  MetricsSettings metrics;
  LogSettings log;
  MigrateSettings migrate;
  std::string instance;  // Never empty after load_settings: the host's name where nothing else is said.
  StageRows stages;  // The stages of this process, in the order of the flow.

  RetentionConfig retention() const;  // For Calendar::create.
  LegacyLayoutConfig legacy_layout() const;
};

// Checks what `bloomring run` needs beyond a valid configuration: names of brokers. kInvalid says which key to set.
Status check_runnable(const Settings& settings);

}  // namespace bloomring
