// RocksDB's options for an embedded filter store, for its writer and its followers alike.
// Included by sources of this folder only.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "state/rocksdb/rocks.h"
#include "state/rocksdb/state_memory.h"
#include "state/store/embedded/embedded_filter_store_config.h"
#include "state/store/filter_life.h"

namespace bloomring {

// Counts of the parts that RocksDB calls.
struct EmbeddedCounters {
  std::atomic<uint64_t> refused{0};  // Values and operands refused by unions.
  std::atomic<uint64_t> dropped{0};  // Values and operands dropped by expiry.
};

// Table files that the store may have open at once.
uint32_t open_files_max(const EmbeddedFilterStoreConfig& config);

// `clock` and `counters` outlive the database.
rocksdb::Options embedded_options(const EmbeddedFilterStoreConfig& config, const FilterLife& life, const Clock& clock,
                                  const StateMemory& memory, EmbeddedCounters& counters);

}  // namespace bloomring
