#include "pipeline/stores/open_stores.h"

#include <algorithm>
#include <utility>

#include "state/store/embedded/embedded_filter_follower.h"

namespace bloomring {

namespace {

// The size of the filter store's own write buffer: a quarter of the memory for all write buffers. A larger one writes
// fewer bytes.
constexpr uint64_t kWriteBufferLeast = 4ull << 20;
constexpr uint64_t kWriteBufferMost = 64ull << 20;

}  // namespace

EmbeddedFilterStoreConfig embedded_store_config(const Settings& settings) {
  EmbeddedFilterStoreConfig config;
  config.path = settings.store.path;
  config.policy = {settings.filter.false_positive_rate, settings.filter.periods_read, settings.filter.dense_from_items};
  config.partition_count = settings.topics.partitions;
  return config;
}

Result<FilterStores> open_stores(const Settings& settings, StoreRole role, const StoreParts& parts) {
  if (role == StoreRole::kNone) return FilterStores();
  EmbeddedFilterStoreConfig config = embedded_store_config(settings);
  config.write_buffer_bytes =
      std::clamp<uint64_t>(parts.memory.config().write_buffer_bytes / 4, kWriteBufferLeast, kWriteBufferMost);
  if (role == StoreRole::kReads) {
    BLOOMRING_TRY_ASSIGN(auto follower,
                         EmbeddedFilterFollower::follow(config, parts.calendar, parts.clock, parts.memory));
    StoreAdmin* const admin = follower.get();
    return FilterStores{std::move(follower), nullptr, admin};
  }
  BLOOMRING_TRY_ASSIGN(auto store, EmbeddedFilterStore::open(config, parts.calendar, parts.clock, parts.memory));
  FilterWriter* const writer = store.get();
  StoreAdmin* const admin = store.get();
  return FilterStores{std::move(store), writer, admin};
}

}  // namespace bloomring
