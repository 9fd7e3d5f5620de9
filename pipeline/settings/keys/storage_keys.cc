#include "pipeline/settings/keys/storage_keys.h"

#include "pipeline/settings/keys/value_rules.h"

namespace bloomring {
namespace {

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
          "`replica`: reads ask a replica first, and the primary where the replica is behind the merged watermark, "
          "lacks a filter or is away. The primary is always asked how many filters there are.");
  config.integer("store.redis.hedge_after_ms", &redis.hedge_after_ms)
      .range(0, 60000)
      .unit("milliseconds")
      .doc(
          "A read of a user that has no answer by then is asked a second time, and the first answer that has all that "
          "the merged watermark covers is taken. The second question goes to a replica, or to the primary where a "
          "replica was asked first, over another connection. A read that fails is asked there at once. 0: never.");
  config.integer("store.redis.hedge_percent", &redis.hedge_percent)
      .range(1, 100)
      .doc("Of 100 reads, how many may be asked a second time while the first question is under way.");
  config.integer("store.redis.connections_max", &redis.connections_max)
      .range(1, 64)
      .doc("Connections for reads to each server, with a thread each. A process that merges has two more.");
  config.integer("store.redis.timeout_ms", &redis.timeout_ms)
      .range(10, 60000)
      .unit("milliseconds")
      .doc("How long a read may take, and how long a server may say nothing before it counts as away.");
}

}  // namespace

void declare_filter(Config& config, FilterSettings& filter) {
  config.section("filter", "The filters: their error, their periods and their retention.");
  config.real("filter.false_positive_rate", &filter.false_positive_rate)
      .real_range(0.000001, 0.2)
      .doc("Share of unseen items that a query may answer as seen, over everything that it reads.");
  config.integer("filter.periods_read", &filter.periods_read)
      .range(1, 63)
      .doc(
          "Periods that a query reads: the current one and those before it. Shortly before a period ends, a query "
          "also reads the next one.");
  config
      .choice<PeriodUnit>("filter.period", &filter.period,
                          {{"month", PeriodUnit::kMonth}, {"week", PeriodUnit::kWeek}, {"day", PeriodUnit::kDay}})
      .doc("Length of the period of one filter, by event time in `filter.time_zone`. Cannot be changed in place.");
  config.integer("filter.retention_periods", &filter.retention_periods)
      .range(0, 1000)
      .doc("Number of whole periods for which a filter is kept after its own. At least `filter.periods_read` - 1.");
  config.string("filter.time_zone", &filter.time_zone)
      .check(must_be_time_zone)
      .doc("Time zone (IANA name) in which periods begin and filters expire at night. Cannot be changed in place.");
  config.integer("filter.dense_from_items", &filter.dense_from_items)
      .range(64, 16 * int64_t{kMiB})
      .unit("items")
      .doc(
          "Smallest number of items of a filter in the dense form: an index in front of the set makes it faster to "
          "query.");
}

void declare_backups(Config& config, StoreSettings& store) {
  config.string("store.backup_path", &store.backup_path)
      .doc("Folder for backups of the embedded filter store, on another disk; `bloomring store backup` takes them.");
  config.integer("store.backups_kept", &store.backups_kept)
      .range(1, 100000)
      .doc(
          "Number of backups to keep. A new backup removes the oldest beyond it, but never the last one of each of "
          "the seven latest days that have one.");
  config.bytes("store.backup_bytes_per_second", &store.backup_bytes_per_second)
      .range(0, kBytesMax)
      .doc("Highest rate at which a backup is copied, so that queries and merges keep the disk. 0: no limit.");
  config.integer("store.backup_interval_seconds", &store.backup_interval_seconds)
      .range(0, 86400)
      .unit("seconds")
      .doc(
          "Least time between two backups that the admin port is asked for. An earlier request is refused, so that "
          "requests cannot push out older backups.");
}

// Of a store on servers: the pace of writes, and the plan from which `check` computes whether it is enough.
void declare_writes(Config& config, StoreSettings& store) {
  config.bytes("store.write_bytes_per_second", &store.write_bytes_per_second)
      .range(0, kBytesMax)
      .doc(
          "Highest rate at which all merge processes of the installation together write keys and values to the servers "
          "of a filter store of kind `redis`. A process gets the share of the partitions that it merges. 0: no limit "
          "but the number of writes under way, which adapts to the servers' answers.");
  config.integer("store.plan_users_per_slot", &store.plan_users_per_slot)
      .range(0, 1'000'000'000'000)
      .unit("users")
      .doc(
          "How many users play within one slot of the ring. `bloomring check` computes from it whether their filters "
          "can be written within a slot; nothing else uses it. 0: not known.");
  config.integer("store.plan_filter_bytes", &store.plan_filter_bytes)
      .range(1, 16 * int64_t{kMiB})
      .unit("bytes")
      .doc(
          "Mean size of a filter, for the same computation. `bloomring store check` prints the filters of a store and "
          "their bytes.");
}

void declare_store(Config& config, StoreSettings& store) {
  config.section("store", "The filter store.");
  config
      .choice<StoreKind>("store.kind", &store.kind,
                         {{"embedded", StoreKind::kEmbedded}, {"redis", StoreKind::kRedis}})
      .doc(
          "`embedded` keeps filters in RocksDB under `store.path`, for processes of one machine; `redis` keeps them on "
          "servers of the Redis protocol (`store.redis`), for any number of machines.");
  config.string("store.path", &store.path).doc("Folder of the embedded filter store.");
  declare_backups(config, store);
  config.integer("store.erase_within_seconds", &store.erase_within_seconds)
      .range(0, 365 * 86'400)
      .unit("seconds")
      .doc("Deadline for the bytes of what users have forgotten with everything, from the merge of the forget on: "
           "within half of it they leave the files of the store, by compactions of the ranges concerned, and after the "
           "other half no backup of before is left, except the newest one. At most twice topics.retention_hours. 0: no "
           "deadline; the bytes leave with the usual compactions, within weeks, and backups by their number alone.");
  declare_writes(config, store);
  declare_redis(config, store.redis);
}

void declare_state(Config& config, StateSettings& state) {
  config.section("state",
                 "The local state of the window stage. It may be deleted: the stage then reads it back from the log.");
  config.string("state.path", &state.path)
      .check(must_not_be_empty)
      .doc("Folder with one RocksDB for each partition.");
  config.integer("state.flush_seconds", &state.flush_seconds)
      .range(1, 3600)
      .unit("seconds")
      .doc(
          "Interval at which state is written to disk. After a crash, the stage reads at most this much of the log "
          "again.");
  config.boolean("state.accept_lost_events", &state.accept_lost_events)
      .doc(
          "`true`: the window stage goes on although events that are not merged are no longer in the log. Set it for "
          "one start, after the refusal has said how many events are lost.");
}

}  // namespace bloomring
