#include "pipeline/settings/keys/settings_check.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/config/listen_address.h"
#include "base/hash.h"
#include "pipeline/kafka/broker_list.h"
#include "pipeline/kafka/property_rules.h"
#include "pipeline/settings/memory_plan.h"
#include "pipeline/settings/window_folder.h"
#include "schemas/json/json_fields.h"
#include "schemas/store/redis_key.h"
#include "serving/query/peer_addresses.h"

namespace bloomring {
namespace {

// Collects the faults, each with the place where the value was set.
class SettingFaults {
 public:
  explicit SettingFaults(const Config& config) : config_(config) {}

  std::string at(std::string_view key) const { return config_.origin(key) + ": " + std::string(key) + " "; }
  void require(bool fits, std::string_view key, const std::string& sentence) {
    if (!fits) message_ += (message_.empty() ? "" : "\n") + at(key) + sentence;
  }
  Status status() const { return message_.empty() ? Status() : invalid(message_); }

 private:
  const Config& config_;
  std::string message_;
};

// DistinctNames of one kind, none of which may be used twice.
class DistinctNames {
 public:
  DistinctNames(SettingFaults& faults, std::string kind) : faults_(faults), kind_(std::move(kind)) {}
  void add(std::string_view key, const std::string& name) {
    faults_.require(names_.insert(name).second, key, "is " + name + ", which is already the name of another " + kind_);
  }

 private:
  SettingFaults& faults_;
  std::string kind_;
  std::set<std::string> names_;
};

void check_topics(const TopicSettings& topics, SettingFaults& faults) {
  faults.require(
      kShardCount % topics.partitions == 0, "topics.partitions",
      "is " + std::to_string(topics.partitions) +
          "; it must divide 5000, the number of shards, as 1, 2, 4, 5, 8, 10, 20, 25, 40, 50, 100, 125, 200, "
          "250, 500 and 1000 do");
  DistinctNames names(faults, "topic");
  for (const TopicRow& row : topics.names.rows()) {
    for (const std::string& name : topics.names.all(row.role)) names.add(row.key, name);
  }
}

void check_fields(const EventSettings& events, SettingFaults& faults) {
  DistinctNames names(faults, "field");
  names.add("events.user", events.user);
  names.add("events.item", events.item);
  names.add("events.time", events.time);
  if (!events.scene.empty()) names.add("events.scene", events.scene);
  if (!events.event.empty()) names.add("events.event", events.event);
  if (!events.watched.empty()) names.add("events.watched", events.watched);
  if (!events.duration.empty()) names.add("events.duration", events.duration);
  const std::map<std::string, std::string> fields = {
      {"events.user", events.user},   {"events.item", events.item},       {"events.time", events.time},
      {"events.scene", events.scene}, {"events.event", events.event},     {"events.watched", events.watched},
      {"events.duration", events.duration}};
  for (const auto& [key, path] : fields) {
    faults.require(std::count(path.begin(), path.end(), '.') < JsonFields::kDepthMax, key,
                   "is " + path + "; a path has at most " + std::to_string(JsonFields::kDepthMax) + " names");
    const bool empty_name = path.starts_with('.') || path.ends_with('.') || path.find("..") != std::string::npos;
    faults.require(!empty_name, key, "is " + path + "; a path has a name before and behind each dot");
  }
}

void check_kinds(const EventSettings& events, SettingFaults& faults, std::vector<std::string>& warnings) {
  for (const auto& [name, word] : events.kinds) {
    faults.require(is_kind(word), "events.kinds",
                   "has " + name + ": " + word + "; a kind is play, serve, forget, forget_all or ignore");
  }
  faults.require(events.kinds.empty() || !events.event.empty(), "events.kinds",
                 "is set; events.event must name the field that has the kind");
  const bool rule = events.view_share_min > 0 || events.view_ms_min > 0;
  const char* const asks = events.view_share_min > 0 ? "events.view_share_min" : "events.view_ms_min";
  faults.require(!rule || !events.watched.empty(), asks,
                 "is set; events.watched must name the field with the time watched");
  faults.require(events.view_share_min <= 0 || !events.duration.empty(), "events.view_share_min",
                 "is set; events.duration must name the field with the length of an item");
  if (!rule && !events.watched.empty()) {
    warnings.push_back(faults.at("events.watched") +
                       "is set, but has no effect and every view is a play; set events.view_share_min or "
                       "events.view_ms_min");
  }
  faults.require(events.scenes.empty() || !events.scene.empty(), "events.scenes",
                 "is set, and events.scene is empty, so all scenes share their filters; set only one of them");
}

void check_read_through(const Settings& settings, SettingFaults& faults) {
  if (!settings.migrate.read_through) return;
  faults.require(!settings.migrate.addresses.empty(), "migrate.read_through",
                 "is on; migrate.addresses must name the servers of the old store");
  const auto has_scene = [](const std::string& key) { return key.find("{scene}") != std::string::npos; };
  const bool scenes = std::ranges::any_of(settings.migrate.keys, has_scene);
  faults.require(!scenes || !settings.events.scene.empty(), "migrate.read_through",
                 "is on, migrate.keys has {scene}, and events.scene is empty: the sets of a user are in scenes that no "
                 "query names; migrate without read_through");
}

void check_brokers(const KafkaSettings& kafka, SettingFaults& faults) {
  const std::string wrong = kafka::first_wrong_broker(kafka.bootstrap);
  faults.require(wrong.empty(), "kafka.bootstrap",
                 "has " + wrong + "; it must be host:port,host:port, as broker-1:9092");
  for (const std::string& broken : kafka::check_rules(kafka.properties)) {
    faults.require(false, "kafka.properties", broken);
  }
}

void check_peers(const ServeSettings& serve, SettingFaults& faults) {
  for (uint32_t i = 0; i < (is_peer_pattern(serve.peers) ? 1 : serve.peers.size()); ++i) {
    const std::string address = peer_address(serve.peers, i);
    if (address.find("://") != std::string::npos) continue;  // A name of gRPC's own.
    const auto parsed = parse_listen_address(address);
    faults.require(parsed.ok() && parsed->port != 0, "serve.peers",
                   "has " + serve.peers[i] + "; each must be host:port, as replica-{index}.internal:7700");
  }
}

void check_ring(const Settings& settings, SettingFaults& faults, std::vector<std::string>& warnings) {
  const int64_t kept_seconds = int64_t{settings.topics.retention_hours} * 3600;
  const int64_t lap_seconds = settings.ring.lap_ms() / 1000;
  faults.require(kept_seconds > lap_seconds, "topics.retention_hours",
                 "is " + std::to_string(settings.topics.retention_hours) +
                     "; it must be more than one lap of the ring (ring.slots x ring.slot_seconds = " +
                     std::to_string(lap_seconds) + " seconds), or plays could leave the log before they are merged");
  if (kept_seconds > lap_seconds && kept_seconds < 2 * lap_seconds) {
    warnings.push_back(faults.at("topics.retention_hours") +
                       "keeps less than two laps of the ring: plays are lost if the filter store is down for longer "
                       "than the time beyond the first lap");
  }
}

// A port that other machines reach asks for certificates, or says that it does not.
void check_exposure(const Settings& settings, SettingFaults& faults, std::vector<std::string>& warnings) {
  const ServeSettings& serve = settings.serve;
  const auto listens = parse_listen_address(serve.listen);
  if (!take_calls(settings.stages) || !listens.ok() || listens->is_loopback() || serve.tls.enabled()) return;
  faults.require(serve.insecure, "serve.listen",
                 "is " + serve.listen +
                     ", which other machines reach, and without TLS everybody there could read and erase the history "
                     "of every user; set serve.tls_certificate and serve.tls_key, listen on 127.0.0.1, or set "
                     "serve.insecure: true where something else protects the port");
  if (!serve.insecure) return;
  warnings.push_back(faults.at("serve.insecure") + "is true, and serve.listen is " + serve.listen +
                     " without TLS: everybody who reaches it can read and erase the history of every user");
}

// The admin port has no encryption, and its pages are for everybody who reaches it.
void warn_of_admin(const AdminSettings& admin, const SettingFaults& faults, std::vector<std::string>& warnings) {
  const auto listens = parse_listen_address(admin.listen);
  if (!listens.ok() || listens->is_loopback() || !admin.token_file.empty()) return;
  warnings.push_back(faults.at("admin.listen") + "is " + admin.listen +
                     ", which other machines reach, without TLS, and admin.token_file is not set: everybody there can "
                     "read metrics, health and the state of stages; set admin.token_file to a token for those who may "
                     "act from there, let only monitoring reach the port, or listen on 127.0.0.1");
}

void check_serving(const ServeSettings& serve, SettingFaults& faults) {
  const std::string count = "serve.replica_count = " + std::to_string(serve.replica_count);
  faults.require(serve.replica_index < serve.replica_count, "serve.replica_index",
                 "is " + std::to_string(serve.replica_index) + "; it must be less than " + count);
  faults.require(serve.replication_factor <= serve.replica_count, "serve.replication_factor",
                 "is " + std::to_string(serve.replication_factor) + "; it must be at most " + count);
  const bool peers_fit =
      serve.peers.empty() || is_peer_pattern(serve.peers) || serve.peers.size() == serve.replica_count;
  faults.require(peers_fit, "serve.peers",
                 "must be empty, one pattern with {index}, or as many addresses as " + count);
  const bool peers_trusted = serve.peers.empty() || !serve.tls.enabled() || serve.peer_tls().enabled();
  faults.require(peers_trusted, "serve.peers", "are asked over TLS; serve.tls_peer_ca must say who vouches for them");
  faults.require(serve.tls.certificate.empty() == serve.tls.key.empty(), "serve.tls_certificate",
                 "and serve.tls_key are needed together, or neither");
  faults.require(serve.access_file.empty() || !serve.tls.client_ca.empty(), "serve.access_file",
                 "lists names of client certificates, and no client shows one; also set serve.tls_client_ca");
  faults.require(serve.tls.client_ca.empty() || serve.tls.enabled(), "serve.tls_client_ca",
                 "also needs serve.tls_certificate and serve.tls_key");
}

// Over TLS the canary asks as other replicas do, by a name of the certificate.
void check_canary(const Settings& settings, SettingFaults& faults) {
  if (!settings.canary.on() || !take_calls(settings.stages) || !settings.serve.tls.enabled()) return;
  faults.require(!settings.canary.server.empty(), "canary.server",
                 "is empty, and the canary asks over TLS; name the service as its certificate does, as "
                 "replica-0.internal:7700");
  faults.require(settings.serve.peer_tls().enabled(), "canary.interval_seconds",
                 "is set, and the canary asks over TLS; serve.tls_peer_ca must say who vouches for the service");
}

void check_served(const Settings& settings, const SettingFaults& faults, std::vector<std::string>& warnings) {
  if (int64_t{settings.served.max_age_seconds} <= int64_t{settings.topics.retention_hours} * 3600) return;
  warnings.push_back(
      faults.at("served.max_age_seconds") +
      "is longer than topics.retention_hours: after a restart, items that were served before that are unseen");
}

void check_memory(const Settings& settings, SettingFaults& faults) {
  const auto plan = plan_memory(settings);
  if (!plan.ok()) faults.require(false, "memory.limit", plan.status().message());
}

// Properties of librdkafka that make a queue larger or smaller than planned.
void warn_of_queues(const KafkaSettings& kafka, const SettingFaults& faults, std::vector<std::string>& warnings) {
  for (const char* name : {"queued.max.messages.kbytes", "fetch.message.max.bytes", "max.partition.fetch.bytes",
                           "queue.buffering.max.kbytes", "queue.buffering.max.messages"}) {
    if (!kafka.properties.contains(name)) continue;
    warnings.push_back(faults.at("kafka.properties") + "sets " + name +
                       ", which is otherwise derived from memory.limit: the "
                       "process may take more than that");
  }
}

void check_end(const Settings& settings, SettingFaults& faults) {
  const uint32_t drain = settings.serve.drain_seconds, stop = settings.process.stop_seconds;
  faults.require(!take_calls(settings.stages) || drain < stop, "serve.drain_seconds",
                 "is " + std::to_string(drain) + "; it must be less than process.stop_seconds = " +
                     std::to_string(stop) + ", which bounds the whole end");
}

// A restored backup must find every forget since in user-events.
void check_erasure(const Settings& settings, SettingFaults& faults) {
  const int64_t retention_ms = int64_t{settings.topics.retention_hours} * 3'600'000;
  faults.require(settings.store.erase_step_ms() <= retention_ms, "store.erase_within_seconds",
                 "is " + std::to_string(settings.store.erase_within_seconds) +
                     "; it must be at most twice topics.retention_hours = " +
                     std::to_string(settings.topics.retention_hours) +
                     " hours, or a backup may be older than the forgets in the log, and a restore would bring back "
                     "what was erased");
}

// A folder that we fill, empty or remove as a whole, so nothing else may be in it.
struct Folder {
  const char* key;
  std::string path;
  const char* owner;
};

// The canonical path, without a slash at the end.
std::filesystem::path true_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  const std::filesystem::path found = std::filesystem::weakly_canonical(absolute, error);
  return ((error ? absolute : found) / "").lexically_normal().parent_path();
}

bool is_in_the_way(const Folder& inner, const Folder& outer) {
  const std::filesystem::path below = true_path(inner.path).lexically_relative(true_path(outer.path));
  const std::string first = below.empty() ? ".." : below.begin()->string();
  if (first == "..") return false;
  return std::string_view(outer.key) != "state.path" || first == "." || first.starts_with(kWindowFolderPrefix);
}

void check_folders(const Settings& settings, SettingFaults& faults) {
  std::vector<Folder> folders = {{"state.path", settings.state.path, "the window stage removes folders window-N"}};
  if (const auto store = settings.store.folder()) {
    faults.require(!store->empty(), "store.path", "is \"\"; it must not be empty");
    if (!store->empty()) folders.insert(folders.begin(), {"store.path", *store, "the filter store alone may be"});
  }
  if (!settings.store.backup_path.empty())
    folders.push_back({"store.backup_path", settings.store.backup_path, "backups alone may be"});
  for (const Folder& inner : folders) {
    for (const Folder& outer : folders) {
      if (&inner == &outer) continue;
      faults.require(!is_in_the_way(inner, outer), inner.key,
                     "is " + inner.path + ", in " + outer.key + " = " + outer.path + ", where " + outer.owner +
                         "; give each a folder of its own, and move what is there while nothing runs");
    }
  }
}

void check_filter(const FilterSettings& filter, SettingFaults& faults) {
  faults.require(filter.retention_periods + 1 >= filter.periods_read, "filter.retention_periods",
                 "is " + std::to_string(filter.retention_periods) +
                     "; it must be at least filter.periods_read - 1 = " + std::to_string(filter.periods_read - 1) +
                     ", or queries would read filters that have expired");
}

void check_redis(const StoreSettings& store, SettingFaults& faults) {
  const bool on_servers = store.kind == StoreKind::kRedis;
  faults.require(on_servers || store.write_bytes_per_second == 0, "store.write_bytes_per_second",
                 "is " + std::to_string(store.write_bytes_per_second) +
                     ", but the embedded store is paced by its disk; leave it out, or set store.kind to redis");
  if (!on_servers) return;
  const RedisSettings& redis = store.redis;
  faults.require(!redis.addresses.empty(), "store.redis.addresses",
                 "is empty; name the servers of the filter store, as host:port");
  for (const std::string& address : redis.addresses) {
    const auto parsed = parse_listen_address(address);
    faults.require(parsed.ok() && parsed->port != 0, "store.redis.addresses",
                   "has " + address + "; an address is host:port");
  }
  faults.require(redis.hedge_after_ms < redis.timeout_ms, "store.redis.hedge_after_ms",
                 "is " + std::to_string(redis.hedge_after_ms) +
                     "; a read ends after store.redis.timeout_ms = " + std::to_string(redis.timeout_ms) +
                     ", so nothing would be asked a second time: set it below that, or to 0");
  faults.require(redis.user.empty() || !redis.password_file.empty(), "store.redis.user",
                 "is " + redis.user + ", which also needs store.redis.password_file");
  const std::string complaint = complain_about_prefix(redis.prefix);
  faults.require(complaint.empty(), "store.redis.prefix", "is " + redis.prefix + "; it " + complaint);
  faults.require(store.backup_path.empty(), "store.backup_path",
                 "is " + store.backup_path + ", but backups are of the embedded store; the servers take their own");
}

void check_migrate(const MigrateSettings& migrate, SettingFaults& faults) {
  for (const std::string& address : migrate.addresses) {
    const auto parsed = parse_listen_address(address);
    faults.require(parsed.ok() && parsed->port != 0, "migrate.addresses",
                   "has " + address + "; an address is host:port");
  }
  faults.require(migrate.user.empty() || !migrate.password_file.empty(), "migrate.user",
                 "is " + migrate.user + ", which also needs migrate.password_file");
  // As much as the first pages take, at some 200 bytes a member.
  const uint64_t members = uint64_t{migrate.page_members} * migrate.users_at_once;
  faults.require(members <= 10'000'000, "migrate.users_at_once",
                 "is " + std::to_string(migrate.users_at_once) + "; with migrate.page_members = " +
                     std::to_string(migrate.page_members) +
                     " that is more than 10,000,000 members in memory: lower one of them");
}

}  // namespace

Status check_settings_fit(const Settings& settings, const Config& config, std::vector<std::string>& warnings,
                          bool plans_memory) {
  SettingFaults faults(config);
  check_topics(settings.topics, faults);
  check_fields(settings.events, faults);
  check_kinds(settings.events, faults, warnings);
  check_brokers(settings.kafka, faults);
  check_ring(settings, faults, warnings);
  check_serving(settings.serve, faults);
  check_exposure(settings, faults, warnings);
  warn_of_admin(settings.admin, faults, warnings);
  check_peers(settings.serve, faults);
  check_canary(settings, faults);
  check_served(settings, faults, warnings);
  check_filter(settings.filter, faults);
  check_end(settings, faults);
  check_erasure(settings, faults);
  check_folders(settings, faults);
  if (plans_memory) check_memory(settings, faults);
  warn_of_queues(settings.kafka, faults, warnings);
  check_redis(settings.store, faults);
  check_migrate(settings.migrate, faults);
  check_read_through(settings, faults);
  return faults.status();
}

}  // namespace bloomring
