#include "pipeline/settings/settings.h"

#include <unistd.h>

#include <algorithm>

#include "base/config/finding.h"
#include "base/hash.h"
#include "pipeline/settings/event_settings.h"
#include "pipeline/settings/port_settings.h"
#include "pipeline/settings/settings_check.h"
#include "pipeline/settings/value_rules.h"

namespace bloomring {
namespace {

constexpr int64_t kMiB = 1048576;
constexpr int64_t kGiB = 1024 * kMiB;
// The most bytes that a key may set: more than any machine has, and too few to overflow in sums.
constexpr int64_t kBytesMax = 1024 * kGiB;

void declare_kafka(Config& config, Settings& s) {
  config.section("kafka", "The brokers, and how to reach them.");
  config.string("kafka.bootstrap", &s.kafka.bootstrap)
      .doc(
          "Brokers for the first connection, as `host:port,host:port`. `run`, `topics` and `check` require it; "
          "`dev` has a broker of its own.");
  config.map("kafka.properties", &s.kafka.properties)
      .doc(
          "Properties that librdkafka gets unchanged: TLS, SASL, buffer sizes. "
          "`BLOOMRING_KAFKA_PROPERTIES_SASL_PASSWORD` sets one entry alone (here `sasl.password`). Properties that "
          "the guarantees depend on are refused.");
  config.string("kafka.group_prefix", &s.kafka.group_prefix)
      .check(must_be_word)
      .doc("Prefix of the names of the consumer groups, so that two installations can share brokers.");
}

void declare_topics(Config& config, Settings& s) {
  config.section("topics", "The topics. `bloomring topics` shows and creates them.");
  config.list("topics.plays", &s.topics.plays).check(must_be_topic).doc("Topics that carry plays as JSON.");
  config.string("topics.user_events", &s.topics.user_events)
      .check(must_be_topic)
      .doc("The ordered log of all events of all users. Ingest and serve write it; window and serve read it.");
  config.string("topics.user_batches", &s.topics.user_batches)
      .check(must_be_topic)
      .doc("Batches of sealed slots. Window writes them; merge reads them.");
  config.string("topics.dead", &s.topics.dead)
      .check(must_be_topic)
      .doc("Dead letters: refused records, each with its reason, topic, partition and offset.");
  config.integer("topics.partitions", &s.topics.partitions)
      .range(1, kShardCount)
      .doc("Partitions of the internal topics. Must divide 5000, the number of shards. Cannot be changed in place.");
  config.integer("topics.plays_partitions", &s.topics.plays_partitions)
      .range(1, 10000)
      .doc("Partitions of each topic of plays that `bloomring topics` creates.");
  config.integer("topics.replication", &s.topics.replication)
      .range(1, 15)
      .doc("Replicas of each partition of a topic that `bloomring topics` creates.");
  config.integer("topics.retention_hours", &s.topics.retention_hours)
      .range(1, 24 * 366)
      .unit("hours")
      .doc(
          "Retention of user events and user batches. Dead letters are kept seven times as long. Must be longer "
          "than one lap of the ring: a process that has lost its disk reads back at most that far.");
}

void declare_ingest(Config& config, Settings& s) {
  config.section("ingest",
                 "How plays are packed into event blocks. A block is sent when it reaches one of the first three "
                 "bounds.");
  config.integer("ingest.block_events", &s.ingest.block_events)
      .range(1, 65536)
      .unit("events")
      .doc("Most events in one block.");
  config.integer("ingest.block_bytes", &s.ingest.block_bytes)
      .range(1024, 900000)
      .unit("bytes")
      .doc("Most bytes in one block. Always below 1 MB, the largest record that a broker accepts by default.");
  config.integer("ingest.linger_ms", &s.ingest.linger_ms)
      .range(0, 60000)
      .unit("milliseconds")
      .doc("Longest time that an event waits for others in its block. It bounds the delay of a quiet partition.");
  config.boolean("ingest.drop_repeats", &s.ingest.drop_repeats)
      .doc(
          "`true`: ingest drops an event that repeats a recent one in kind, user, item and time, and does not write "
          "it to the log.");
  config.real("ingest.refused_share_max", &s.ingest.refused_share_max)
      .real_range(0, 1)
      .doc(
          "Largest share of the play records of a minute that may be refused. Above it, /readyz reports the process "
          "as degraded, with the reason. The process stays ready, since the records are safe in `topics.dead`. A "
          "minute with fewer than 20 records is never too much: the log and the metrics alone report its refusals.");
}

void declare_ring(Config& config, Settings& s) {
  config.section("ring", "The ring of slots that collects plays before they are merged into filters.");
  config.integer("ring.slots", &s.ring.slots)
      .range(3, 64)
      .doc("Slots on the ring: one fills, one drains, and the others are spare.");
  config.integer("ring.slot_seconds", &s.ring.slot_seconds)
      .range(1, 86400)
      .unit("seconds")
      .doc("Log time that one slot covers. Must be the same for all processes of an installation.");
  config.real("ring.drain_spread", &s.ring.drain_spread)
      .real_range(0, 0.9)
      .doc(
          "Fraction of a slot over which a drain is spread, to even out the load on the filter store. 0: drains at "
          "once.");
}

void declare_filter(Config& config, Settings& s) {
  config.section("filter", "The filters: their error, their periods and their retention.");
  config.real("filter.false_positive_rate", &s.filter.false_positive_rate)
      .real_range(0.000001, 0.2)
      .doc("Share of unseen items that a query may answer as seen, over everything that it reads.");
  config.integer("filter.periods_read", &s.filter.periods_read)
      .range(1, 63)
      .doc(
          "Periods that a query reads: the current one and those before it. Shortly before a period ends, a query "
          "also reads the next one.");
  config
      .choice<PeriodUnit>("filter.period", &s.filter.period,
                          {{"month", PeriodUnit::kMonth}, {"week", PeriodUnit::kWeek}, {"day", PeriodUnit::kDay}})
      .doc("Length of the period of one filter, by event time in `filter.time_zone`. Cannot be changed in place.");
  config.integer("filter.retention_periods", &s.filter.retention_periods)
      .range(0, 1000)
      .doc("Number of whole periods for which a filter is kept after its own. At least `filter.periods_read` - 1.");
  config.string("filter.time_zone", &s.filter.time_zone)
      .check(must_be_time_zone)
      .doc("Time zone (IANA name) in which periods begin and filters expire at night. Cannot be changed in place.");
  config.integer("filter.dense_from_items", &s.filter.dense_from_items)
      .range(64, 16 * kMiB)
      .unit("items")
      .doc(
          "Smallest number of items of a filter in the dense form: an index in front of the set makes it faster to "
          "query.");
}

void declare_redis(Config& config, RedisSettings& redis) {
  config.section("store.redis",
                 "The servers of a filter store of kind `redis`: a cluster, one server, or a primary with replicas.");
  config.list("store.redis.addresses", &redis.addresses)
      .doc(
          "Servers, as `host:port`: some of a cluster, which name the others, or a primary and all of its replicas. "
          "Needed for `store.kind` = `redis`.");
  config.string("store.redis.user", &redis.user).doc("ACL user. Empty: the default user.");
  config.string("store.redis.password_file", &redis.password_file)
      .doc("File with the password of the user, in one line. Empty: no login.");
  config.string("store.redis.prefix", &redis.prefix)
      .doc("Beginning of all keys. Two installations on the same servers need different ones.");
  config.integer("store.redis.min_replicas", &redis.min_replicas)
      .range(0, 16)
      .doc(
          "Replicas of each primary that must have acknowledged (WAIT) what a merged watermark covers before it is "
          "written. With 0 a failover can lose merged plays; they are noticed and merged again from the log.");
  config.choice<bool>("store.redis.read_from", &redis.read_replicas, {{"primary", false}, {"replica", true}})
      .doc(
          "`replica`: reads ask a replica first, and the primary where the replica is behind the merged watermark, lacks "
          "a filter or is away. The primary is always asked how many filters there are.");
  config.integer("store.redis.connections_max", &redis.connections_max)
      .range(1, 64)
      .doc("Connections for reads to each server, with a thread each. A process that merges has two more.");
  config.integer("store.redis.timeout_ms", &redis.timeout_ms)
      .range(10, 60000)
      .unit("milliseconds")
      .doc("How long a read may take, and how long a server may say nothing before it counts as away.");
}

void declare_store(Config& config, Settings& s) {
  config.section("store", "The filter store.");
  config
      .choice<StoreKind>("store.kind", &s.store.kind,
                         {{"embedded", StoreKind::kEmbedded}, {"redis", StoreKind::kRedis}})
      .doc(
          "`embedded` keeps filters in RocksDB under `store.path`, for processes of one machine; `redis` keeps them on "
          "servers of the Redis protocol (`store.redis`), for any number of machines.");
  config.string("store.path", &s.store.path).check(must_not_be_empty).doc("Folder of the embedded filter store.");
  config.string("store.backup_path", &s.store.backup_path)
      .doc("Folder for backups of the embedded filter store, on another disk; `bloomring store backup` takes them.");
  config.integer("store.backups_kept", &s.store.backups_kept)
      .range(1, 100000)
      .doc(
          "Number of backups to keep. A new backup removes the oldest beyond it, but never the last one of each of "
          "the seven latest days that have one.");
  config.bytes("store.backup_bytes_per_second", &s.store.backup_bytes_per_second)
      .range(0, kBytesMax)
      .doc("Highest rate at which a backup is copied, so that queries and merges keep the disk. 0: no limit.");
  config.integer("store.backup_interval_seconds", &s.store.backup_interval_seconds)
      .range(0, 86400)
      .unit("seconds")
      .doc(
          "Least time between two backups that the admin port is asked for. An earlier request is refused, so that "
          "requests cannot push out older backups.");
  config.integer("store.erase_within_seconds", &s.store.erase_within_seconds)
      .range(0, 365 * 86'400)
      .unit("seconds")
      .doc("Deadline for the bytes of what users have forgotten with everything, from the merge of the forget on: "
           "within half of it they leave the files of the store, by compactions of the ranges concerned, and after the "
           "other half no backup of before is left, except the newest one. At most twice topics.retention_hours. 0: no "
           "deadline; the bytes leave with the usual compactions, within weeks, and backups by their number alone.");
  declare_redis(config, s.store.redis);
}

void declare_state(Config& config, Settings& s) {
  config.section("state",
                 "The local state of the window stage. It may be deleted: the stage then reads it back from the log.");
  config.string("state.path", &s.state.path)
      .check(must_not_be_empty)
      .doc("Folder with one RocksDB for each partition.");
  config.integer("state.flush_seconds", &s.state.flush_seconds)
      .range(1, 3600)
      .unit("seconds")
      .doc(
          "Interval at which state is written to disk. After a crash, the stage reads at most this much of the log "
          "again.");
  config.boolean("state.accept_lost_events", &s.state.accept_lost_events)
      .doc(
          "`true`: the window stage goes on although events that are not merged are no longer in the log. Set it for "
          "one start, after the refusal has said how many events are lost.");
}

void declare_process(Config& config, Settings& s, Topology topology) {
  config.section("", "The name and the stages of this process.");
  config.string("instance", &s.instance)
      .check(must_be_word)
      .doc(
          "Name of this process: the same after a restart, and different from all others. Kafka's static membership "
          "uses it. Empty: the name of the host.");
  s.stages = all_stages(topology);
  std::vector<std::pair<std::string, const StageRow*>> choices;
  for (const StageRow* row : s.stages) choices.emplace_back(row->name, row);
  config.choices<const StageRow*>("stages", &s.stages, std::move(choices)).doc("Stages that this process runs.");
  config.section("memory", "One bound for all memory of the process. `bloomring check` prints how it is divided.");
  config.bytes("memory.limit", &s.memory.limit)
      .range(64 * kMiB, kBytesMax)
      .doc(
          "Resident memory of the process. Caches, write buffers, queues of the Kafka clients, passes of drains, "
          "recent plays and cached filters fit into it together. A limit that is too small for the stages and "
          "partitions is refused; the message gives the smallest that works.");
  config.integer("memory.partitions", &s.memory.partitions)
      .range(0, kShardCount)
      .doc(
          "Most partitions of a topic that the consumer groups will assign to this process; the memory is planned "
          "for them. 0: all, as after the loss of all other processes.");
  config.section("process", "Time bounds: when a task counts as stuck, and how long start and end may take.");
  config.integer("process.stall_seconds", &s.process.stall_seconds)
      .range(1, 3600)
      .unit("seconds")
      .doc(
          "A task that makes no step for this long counts as stuck: the log names it, and /healthz fails until it "
          "goes on. So does /healthz when the gRPC port answers no connection for this long, at least 20 seconds.");
  config.integer("process.start_seconds", &s.process.start_seconds)
      .range(0, 86400)
      .unit("seconds")
      .doc(
          "Longest wait at the start for brokers, topics and filter store together. /readyz and the log name the "
          "missing part meanwhile. After this time the process ends with exit code 1. 0: no limit.");
  config.integer("process.stop_seconds", &s.process.stop_seconds)
      .range(1, 3600)
      .unit("seconds")
      .doc(
          "Longest orderly end after SIGTERM, including `serve.drain_seconds`. After this time the process abandons "
          "work that still hangs, and the exit code is 1. Keep it below the time after which your supervisor kills "
          "the process (30 seconds in Kubernetes).");
  config.boolean("process.core_dumps", &s.process.core_dumps)
      .doc(
          "`true`: a crash may leave a core dump, and a debugger of the same user may attach. Both show the ids and "
          "histories of users, and secrets.");
  config.section("threads", "Threads of the stages that hold partitions; each partition belongs to one.");
  config.integer("threads.window", &s.threads.window).range(1, 256).doc("Threads of the window stage.");
  config.integer("threads.merge", &s.threads.merge).range(1, 256).doc("Threads of the merge stage.");
}

void declare_served(Config& config, Settings& s) {
  config.section("served",
                 "The served items. They count as seen for a while, even without a play.");
  config.integer("served.per_user_max", &s.served.per_user_max)
      .range(1, 10000)
      .unit("items")
      .doc(
          "Number of a user's latest served items, in each scene, that count as seen. One more makes the oldest "
          "unseen again.");
  config.integer("served.max_age_seconds", &s.served.max_age_seconds)
      .range(1, 7 * 86400)
      .unit("seconds")
      .doc(
          "Time for which a served item counts as seen. A serve process reads this much of the log back when it "
          "starts.");
}

void declare_outputs(Config& config, Settings& s) {
  config.section("metrics", "The series in /metrics.");
  config.boolean("metrics.per_partition", &s.metrics.per_partition)
      .doc(
          "`true`: each partition has its own series, about 20 for each partition and stage. `false`: one series for "
          "all, with the label `partition` set to `all`. It shows the sum of offsets and of lags in records, and "
          "the largest age.");
  config.section("log", "The log, on standard error.");
  config
      .choice<LogLevel>("log.level", &s.log.level,
                        {{"debug", LogLevel::kDebug},
                         {"info", LogLevel::kInfo},
                         {"warning", LogLevel::kWarning},
                         {"error", LogLevel::kError}})
      .doc("Lowest level that is written.");
  config.choice<LogFormat>("log.format", &s.log.format, {{"text", LogFormat::kText}, {"json", LogFormat::kJson}})
      .doc("`text` for people, `json` for machines: one object a line.");
}

Result<std::string> host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return invalid("this host has no name; set instance");
  return std::string(name);
}

// The errors of reading, followed by the faults among the other keys. It leaves out faults of keys that could not be
// read, and all of them when the file could not be read: those values are not the intended ones.
Status with_faults(const Status& unread, const Status& faults) {
  std::vector<std::string> doubtful;
  for (const SetupFinding& finding : findings_of(unread)) doubtful.push_back(finding.key);
  std::string text = unread.message();
  for (const SetupFinding& fault : findings_of(faults)) {
    const auto named = [&](const std::string& key) { return fault.text.find(key) != std::string::npos; };
    if (std::none_of(doubtful.begin(), doubtful.end(), named)) text += "\n" + fault.text;
  }
  return invalid(text);
}

}  // namespace

RetentionConfig Settings::retention() const {
  return {.time_zone = filter.time_zone,
          .unit = filter.period,
          .periods_read = filter.periods_read,
          .retention_periods = filter.retention_periods,
          .ahead_ms = int64_t{events.ahead_seconds} * 1000};
}

TlsClientFiles ServeSettings::peer_tls() const {
  if (!tls.enabled()) return {};
  return {tls_peer_ca.empty() ? tls.client_ca : tls_peer_ca, tls.certificate, tls.key};
}

void declare_settings(Config& config, Settings& settings, Topology topology) {
  declare_process(config, settings, topology);
  declare_kafka(config, settings);
  declare_topics(config, settings);
  declare_events(config, settings.events);
  declare_ingest(config, settings);
  declare_ring(config, settings);
  declare_filter(config, settings);
  declare_store(config, settings);
  declare_state(config, settings);
  declare_serve(config, settings.serve);
  declare_served(config, settings);
  declare_admin(config, settings.admin);
  declare_outputs(config, settings);
}

Result<LoadedSettings> load_settings(const ConfigSources& sources, Topology topology, LogSettings* log) {
  LoadedSettings loaded;
  Config config;
  declare_settings(config, loaded.settings, topology);
  const Status read = config.load(sources);
  if (log != nullptr) *log = loaded.settings.log;
  loaded.warnings = config.warnings();
  std::ranges::sort(loaded.settings.stages);  // Rows of one table: the order of the flow.
  if (!read.ok()) return with_faults(read, check_settings_fit(loaded.settings, config, loaded.warnings));
  if (loaded.settings.instance.empty()) {
    BLOOMRING_TRY_ASSIGN(loaded.settings.instance, host_name());
  }
  BLOOMRING_TRY(check_settings_fit(loaded.settings, config, loaded.warnings));
  if (const std::string& place = config.origin("topics.plays"); place != "default") {
    loaded.settings.topics.plays_place = place;
  }
  loaded.effective_yaml = config.effective_yaml();
  return loaded;
}

Result<LoadedSettings> load_settings(const std::string& path, std::vector<ConfigFlag> overrides, Topology topology,
                                     LogSettings* log) {
  return load_settings(
      ConfigSources{.path = path, .environment = process_environment(), .flags = std::move(overrides)}, topology, log);
}

Status check_runnable(const Settings& settings) {
  if (!settings.kafka.bootstrap.empty()) return {};
  return invalid("kafka.bootstrap is not set; name the brokers there, or in BLOOMRING_KAFKA_BOOTSTRAP");
}

std::string settings_reference(Topology topology) {
  Settings settings;
  Config config;
  declare_settings(config, settings, topology);
  return config.reference_markdown();
}

}  // namespace bloomring
