// The memory and the background threads that all embedded stores of a process share: one cache and one bound on write
// buffers for the filter store and the window stores of every partition, so that the configured ceiling is that of the
// process, for any number of partitions.
//
// The cache is charged with write buffers, and with indexes and Bloom filters of table files. A store never stalls its
// writer for memory: past the bound, the store that is being written flushes. An idle store keeps its buffer until its
// owner flushes it (flush idle partitions by timer).
// Threading: thread safe. Stores keep the parts alive that they need.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace bloomring {

struct StateMemoryConfig {
  uint64_t cache_bytes = 256ull << 20;        // Everything: blocks, indexes, write buffers.
  uint64_t write_buffer_bytes = 64ull << 20;  // The part of it that write buffers may take.
  int background_threads = 2;                 // For compactions; flushes get half as many, at least one.
};

// The kind of a database: the filter store's, or a window store's.
enum class RocksKind : uint8_t { kFilters, kWindow };
inline constexpr size_t kRocksKindCount = 2;

// The state of all databases of a kind together. Counts are since the start of the process.
struct RocksHealth {
  bool write_stopped = false;             // Now, in any of them.
  uint64_t pending_compaction_bytes = 0;  // Now, as RocksDB estimates.
  uint64_t background_errors = 0;         // Failed flushes and compactions.
  uint64_t stall_us = 0;                  // Time that writes waited for flushes and compactions.
  uint64_t cache_hits = 0;                // Of blocks of all kinds.
  uint64_t cache_misses = 0;
};

class StateMemory {
 public:
  explicit StateMemory(const StateMemoryConfig& config);
  ~StateMemory();

  const StateMemoryConfig& config() const { return config_; }
  uint64_t cache_used_bytes() const;
  uint64_t write_buffers_used_bytes() const;
  // Costs a few microseconds for each open database.
  RocksHealth health(RocksKind kind) const;
  static std::string rocksdb_version();  // "7.8.3"

  struct Parts;  // RocksDB's types: state/rocksdb/rocks.h.
  const Parts& parts() const { return *parts_; }

 private:
  StateMemoryConfig config_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace bloomring
