#include "pipeline/settings/keys/all_keys.h"

#include <utility>
#include <vector>

#include "base/hash.h"
#include "pipeline/settings/keys/event_keys.h"
#include "pipeline/settings/keys/migrate_keys.h"
#include "pipeline/settings/keys/port_keys.h"
#include "pipeline/settings/keys/storage_keys.h"
#include "pipeline/settings/keys/topic_keys.h"
#include "pipeline/settings/keys/value_rules.h"

namespace bloomring {
namespace {

void declare_instance(Config& config, Settings& s, Topology topology) {
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
}

void declare_memory(Config& config, MemorySettings& memory) {
  config.section("memory", "One bound for all memory of the process. `bloomring check` prints how it is divided.");
  config.bytes("memory.limit", &memory.limit)
      .range(64 * int64_t{kMiB}, kBytesMax)
      .doc(
          "Resident memory of the process. Caches, write buffers, queues of the Kafka clients, passes of drains, "
          "recent plays and cached filters fit into it together. A limit that is too small for the stages and "
          "partitions is refused; the message gives the smallest that works. Where it is not set and the cgroup of the "
          "process (of its container or unit) has a limit, it is four fifths of that.");
  config.integer("memory.partitions", &memory.partitions)
      .range(0, kShardCount)
      .doc(
          "Most partitions of a topic that the consumer groups will assign to this process; the memory is planned "
          "for them. 0: all, as after the loss of all other processes.");
}

void declare_process(Config& config, ProcessSettings& process) {
  config.section("process", "Time bounds: when a task counts as stuck, and how long start and end may take.");
  config.integer("process.stall_seconds", &process.stall_seconds)
      .range(1, 3600)
      .unit("seconds")
      .doc(
          "A task that makes no step for this long counts as stuck: the log names it, and /healthz fails until it "
          "goes on. So does /healthz when the gRPC port answers no connection for this long, at least 20 seconds.");
  config.integer("process.start_seconds", &process.start_seconds)
      .range(0, 86400)
      .unit("seconds")
      .doc(
          "Longest wait at the start for brokers, topics and filter store together. /readyz and the log name the "
          "missing part meanwhile. After this time the process ends with exit code 1. 0: no limit.");
  config.integer("process.stop_seconds", &process.stop_seconds)
      .range(1, 3600)
      .unit("seconds")
      .doc(
          "Longest orderly end after SIGTERM, including `serve.drain_seconds`. After this time the process abandons "
          "work that still hangs, and the exit code is 1. Keep it below the time after which your supervisor kills "
          "the process (30 seconds in Kubernetes).");
  config.boolean("process.core_dumps", &process.core_dumps)
      .doc(
          "`true`: a crash may leave a core dump, and a debugger of the same user may attach. Both show the ids and "
          "histories of users, and secrets.");
}

void declare_threads(Config& config, ThreadSettings& threads) {
  config.section("threads", "Threads of the stages that hold partitions; each partition belongs to one.");
  config.integer("threads.window", &threads.window).range(1, 256).doc("Threads of the window stage.");
  config.integer("threads.merge", &threads.merge).range(1, 256).doc("Threads of the merge stage.");
}

void declare_kafka(Config& config, KafkaSettings& kafka) {
  config.section("kafka", "The brokers, and how to reach them.");
  config.string("kafka.bootstrap", &kafka.bootstrap)
      .doc(
          "Brokers for the first connection, as `host:port,host:port`. `run`, `topics` and `check` require it; "
          "`dev` has a broker of its own.");
  config.map("kafka.properties", &kafka.properties)
      .doc(
          "Properties that librdkafka gets unchanged: TLS, SASL, buffer sizes. "
          "`BLOOMRING_KAFKA_PROPERTIES_SASL_PASSWORD` sets one entry alone (here `sasl.password`). Properties that "
          "the guarantees depend on are refused.");
  config.string("kafka.group_prefix", &kafka.group_prefix)
      .check(must_be_word)
      .doc("Prefix of the names of the consumer groups, so that two installations can share brokers.");
}

void declare_ingest(Config& config, IngestSettings& ingest) {
  config.section("ingest",
                 "How plays are packed into event blocks. A block is sent when it reaches one of the first three "
                 "bounds.");
  config.integer("ingest.block_events", &ingest.block_events)
      .range(1, 65536)
      .unit("events")
      .doc("Most events in one block.");
  config.integer("ingest.block_bytes", &ingest.block_bytes)
      .range(1024, 900000)
      .unit("bytes")
      .doc("Most bytes in one block. Always below 1 MB, the largest record that a broker accepts by default.");
  config.integer("ingest.linger_ms", &ingest.linger_ms)
      .range(0, 60000)
      .unit("milliseconds")
      .doc("Longest time that an event waits for others in its block. It bounds the delay of a quiet partition.");
  config.boolean("ingest.drop_repeats", &ingest.drop_repeats)
      .doc(
          "`true`: ingest drops an event that repeats a recent one in kind, user, item and time, and does not write "
          "it to the log.");
  config.real("ingest.refused_share_max", &ingest.refused_share_max)
      .real_range(0, 1)
      .doc(
          "Largest share of the play records of a minute that may be refused. Above it, /readyz reports the process "
          "as degraded, with the reason. The process stays ready, since the records are safe in `topics.dead`. A "
          "minute with fewer than 20 records is never too much: the log and the metrics alone report its refusals.");
}

void declare_ring(Config& config, RingSettings& ring) {
  config.section("ring", "The ring of slots that collects plays before they are merged into filters.");
  config.integer("ring.slots", &ring.slots)
      .range(3, 64)
      .doc("Slots on the ring: one fills, one drains, and the others are spare.");
  config.integer("ring.slot_seconds", &ring.slot_seconds)
      .range(1, 86400)
      .unit("seconds")
      .doc("Log time that one slot covers. Must be the same for all processes of an installation.");
  config.real("ring.drain_spread", &ring.drain_spread)
      .real_range(0, 0.9)
      .doc(
          "Fraction of a slot over which a drain is spread, to even out the load on the filter store. 0: drains at "
          "once.");
}

void declare_served(Config& config, ServedSettings& served) {
  config.section("served",
                 "The served items. They count as seen for a while, even without a play.");
  config.integer("served.per_user_max", &served.per_user_max)
      .range(1, 10000)
      .unit("items")
      .doc(
          "Number of a user's latest served items, in each scene, that count as seen. One more makes the oldest "
          "unseen again.");
  config.integer("served.max_age_seconds", &served.max_age_seconds)
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

}  // namespace

void declare_settings(Config& config, Settings& settings, Topology topology) {
  declare_instance(config, settings, topology);
  declare_memory(config, settings.memory);
  declare_process(config, settings.process);
  declare_threads(config, settings.threads);
  declare_kafka(config, settings.kafka);
  declare_topics(config, settings.topics);
  declare_events(config, settings.events);
  declare_ingest(config, settings.ingest);
  declare_ring(config, settings.ring);
  declare_filter(config, settings.filter);
  declare_store(config, settings.store);
  declare_state(config, settings.state);
  declare_serve(config, settings.serve);
  declare_served(config, settings.served);
  declare_canary(config, settings.canary);
  declare_admin(config, settings.admin);
  declare_migrate(config, settings.migrate);
  declare_outputs(config, settings);
}

std::string settings_reference(Topology topology) {
  Settings settings;
  Config config;
  declare_settings(config, settings, topology);
  return config.reference_markdown();
}

}  // namespace bloomring
