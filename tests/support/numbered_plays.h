// Plays that are known by their offset alone, so that a process that was killed can say with one number, the merged
// watermark, what must be in its filter store.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/ids.h"
#include "filter/filter.h"
#include "state/store/embedded/embedded_filter_store.h"

namespace bloomring::testing {

inline constexpr int64_t kPlayersCount = 97;
inline constexpr int64_t kPlaysNowMs = 1795000000000;  // 2026-11-18.

inline std::string player(int64_t offset) {
  return std::string(UserKey("feed", "u" + std::to_string(offset % kPlayersCount)).bytes());
}
inline ItemHash played(int64_t offset) { return item_hash("v" + std::to_string(offset)); }
// Of the two newest months.
inline PeriodIndex play_period(int64_t offset) { return PeriodIndex(681 + static_cast<int32_t>(offset / 7 % 2)); }

inline Calendar plays_calendar() { return std::move(Calendar::create(RetentionConfig())).value(); }

// Small buffers, so that a few thousand plays are flushed and compacted many times.
inline EmbeddedFilterStoreConfig plays_store(const std::string& path) {
  EmbeddedFilterStoreConfig config;
  config.path = path;
  config.partition_count = 4;
  config.write_buffer_bytes = 64 << 10;
  return config;
}
inline StateMemoryConfig plays_memory() { return {.cache_bytes = 8 << 20, .write_buffer_bytes = 1 << 20}; }

// Applies the plays [from, to).
inline Status apply_plays(LocalFilterStore& store, int64_t from, int64_t to) {
  std::vector<std::string> players;
  std::vector<ItemHash> items;
  for (int64_t offset = from; offset < to; ++offset) {
    players.push_back(player(offset));
    items.push_back(played(offset));
  }
  std::vector<FilterUpdate> updates;
  for (size_t i = 0; i < items.size(); ++i) {
    updates.push_back({players[i], play_period(from + static_cast<int64_t>(i)), {&items[i], 1}});
  }
  return store.apply(updates);
}

// True when the play is in its filter.
inline Result<bool> has_play(LocalFilterReader& store, int64_t offset) {
  const PeriodIndex period = play_period(offset);
  std::vector<StoredFilter> filters;
  BLOOMRING_TRY(store.read(player(offset), {&period, 1}, filters));
  if (filters.empty()) return false;
  filter::Query query;
  BLOOMRING_TRY(query.add(filters[0].value, filters[0].store_key));
  const ItemHash item = played(offset);
  uint8_t found = filter::Query::kUnseen;
  query.run({&item, 1}, player(offset), {&found, 1});
  return found == 0;
}

}  // namespace bloomring::testing
