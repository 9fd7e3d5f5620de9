#include "pipeline/stores/open_stores.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/host/private_files.h"
#include "base/words.h"
#include "state/store/embedded/embedded_filter_follower.h"
#include "state/store/redis/redis_filter_store.h"
#include "state/store/redis/redis_metrics.h"

namespace bloomring {

namespace {

// The size of the filter store's own write buffer: a quarter of the memory for all write buffers. A larger one writes
// fewer bytes.
constexpr uint64_t kWriteBufferLeast = 4ull << 20;
constexpr uint64_t kWriteBufferMost = 64ull << 20;

filter::Policy policy_of(const FilterSettings& filter) {
  return {filter.false_positive_rate, filter.periods_read, filter.dense_from_items};
}

Result<RedisStoreConfig> redis_store_config(const Settings& settings) {
  const RedisSettings& redis = settings.store.redis;
  RedisStoreConfig config;
  for (const std::string& address : redis.addresses) {
    BLOOMRING_TRY_ASSIGN(RedisAddress parsed, parse_redis_address(address));
    config.addresses.push_back(std::move(parsed));
  }
  config.login.user = redis.user;
  if (!redis.password_file.empty()) {
    auto password = read_secret(redis.password_file);
    if (!password.ok()) return std::move(password).status().with_context("store.redis.password_file");
    config.login.password = std::move(*password);
  }
  config.prefix = redis.prefix;
  config.policy = policy_of(settings.filter);
  config.partition_count = settings.topics.partitions;
  config.min_replicas = redis.min_replicas;
  config.read_replicas = redis.read_replicas;
  config.hedge_after_ms = redis.hedge_after_ms;
  config.hedge_percent = redis.hedge_percent;
  config.connections = redis.connections_max;
  config.timeout_ms = redis.timeout_ms;
  config.write_bytes_per_second = settings.store.write_bytes_per_second;
  return config;
}

Result<FilterStores> open_redis(const Settings& settings, StoreRole role, const StoreParts& parts) {
  BLOOMRING_TRY_ASSIGN(RedisStoreConfig config, redis_store_config(settings));
  const bool writes = role == StoreRole::kWrites;
  config.import_id = parts.import_id;
  auto store = std::make_unique<RedisFilterStore>(std::move(config), parts.calendar, parts.clock, writes);
  FilterStores stores;
  stores.shared = true;
  if (writes) stores.writer = store.get();
  stores.admin = store.get();
  stores.write_metrics = [&parts_of = store->parts()](Scrape& scrape) { write_all(scrape, redis_series(), parts_of); };
  stores.reader = std::move(store);
  return stores;
}

}  // namespace

std::string store_place(const Settings& settings) {
  if (settings.store.kind == StoreKind::kEmbedded) return settings.store.path;
  return joined(settings.store.redis.addresses, ",");
}

std::string describe_store_place(const Settings& settings) {
  const bool embedded = settings.store.kind == StoreKind::kEmbedded;
  return (embedded ? "store.path is " : "store.redis.addresses is ") + store_place(settings);
}

Status check_store_folder(const Settings& settings) {
  const auto folder = settings.store.folder();
  if (!folder || std::filesystem::exists(*folder)) return {};
  return invalid("store.path " + *folder +
                 " does not exist; name the folder of the filter store, with --config or --set store.path=DIR");
}

Result<std::string> backup_folder(const Settings& settings) {
  if (!settings.store.folder())
    return invalid(describe_store_place(settings) + ": backups of the store are those of its servers");
  if (!settings.store.backup_path.empty()) return settings.store.backup_path;
  return invalid(
      "store.backup_path is not set: name the folder of the backups there, on another disk than the store's");
}

EmbeddedFilterStoreConfig embedded_store_config(const Settings& settings) {
  EmbeddedFilterStoreConfig config;
  config.path = settings.store.path;
  config.policy = policy_of(settings.filter);
  config.partition_count = settings.topics.partitions;
  return config;
}

Result<FilterStores> open_stores(const Settings& settings, StoreRole role, const StoreParts& parts) {
  if (role == StoreRole::kNone) return FilterStores();
  if (settings.store.kind == StoreKind::kRedis) return open_redis(settings, role, parts);
  EmbeddedFilterStoreConfig config = embedded_store_config(settings);
  config.import_id = parts.import_id;
  config.write_buffer_bytes =
      std::clamp<uint64_t>(parts.memory.config().write_buffer_bytes / 4, kWriteBufferLeast, kWriteBufferMost);
  if (role == StoreRole::kReads) {
    BLOOMRING_TRY_ASSIGN(auto follower,
                         EmbeddedFilterFollower::follow(config, parts.calendar, parts.clock, parts.memory));
    StoreAdmin* const admin = follower.get();
    return FilterStores{.shared = true, .reader = std::move(follower), .writer = nullptr, .admin = admin};
  }
  BLOOMRING_TRY_ASSIGN(auto store, EmbeddedFilterStore::open(config, parts.calendar, parts.clock, parts.memory));
  FilterWriter* const writer = store.get();
  StoreAdmin* const admin = store.get();
  return FilterStores{.shared = false, .reader = std::move(store), .writer = writer, .admin = admin, .erases = true};
}

}  // namespace bloomring
