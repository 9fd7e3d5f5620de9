// The memory and the background threads that all embedded stores of a process share: one cache and one bound on write
// buffers for the filter store and the window stores of every partition, so that the ceiling in the configuration is
// the ceiling of the process however many partitions it holds.
//
// Write buffers are charged to the cache, and so are indexes and Bloom filters of table files. A store never stalls its
// writer for memory: past the bound the store that is written to flushes, so a store that is idle keeps its buffer
// until its owner flushes it (flush idle partitions by timer).
// Thread safe. Stores keep what they need of it alive.
#pragma once

#include <cstdint>
#include <memory>

namespace bloomring {

struct StateMemoryConfig {
  uint64_t cache_bytes = 256ull << 20;        // Everything: blocks, indexes, write buffers.
  uint64_t write_buffer_bytes = 64ull << 20;  // The part of it that write buffers may take.
  int background_threads = 2;                 // For compactions; flushes get half as many, at least one.
};

class StateMemory {
 public:
  explicit StateMemory(const StateMemoryConfig& config);
  ~StateMemory();

  const StateMemoryConfig& config() const { return config_; }
  uint64_t cache_used_bytes() const;
  uint64_t write_buffers_used_bytes() const;

  struct Parts;  // RocksDB's types: state/rocks.h.
  const Parts& parts() const { return *parts_; }

 private:
  StateMemoryConfig config_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace bloomring
