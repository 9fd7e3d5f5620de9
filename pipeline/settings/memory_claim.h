// The parts of memory.limit that stages claim (memory_plan.h shares the limit out). Values.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace bloomring {

enum class MemoryUse : uint8_t {
  kProcess,       // Code, stacks, metrics, and what the allocator keeps of freed memory.
  kIngestQueue,   // Plays fetched and not yet read.
  kIngestBlocks,  // Open event blocks.
  kWindowQueue,   // Event blocks fetched by the window stage.
  kMergeQueue,    // User batches fetched by the merge stage.
  kServeQueue,    // Event blocks fetched by the serve stage.
  kSendQueue,     // Records on their way to the brokers.
  kServedQueue,   // Records of served items on their way to the brokers.
  kStores,        // RocksDB: block cache and write buffers of the filter store and all window stores.
  kDrains,        // Passes of drains.
  kRecentPlays,
  kServedItems,
  kFilterCache,
  kCalls,     // Connections, open calls, and messages in transit.
  kRequests,  // Requests that are parsed, and their answers.
  kOldPlays,  // Sets of the old store that are read for answers.
  kOther,  // A stage that is not in this list: the queue of its consumer. Each such stage has its own part.
};

inline constexpr uint64_t kMiB = 1 << 20;
inline constexpr uint64_t kNoMost = UINT64_MAX;

// A part before the limit is shared out. Claims of the same use and stage add up.
struct MemoryClaim {
  MemoryUse use;
  std::string_view name;  // "ingest queue"; outlives the plan.
  uint64_t least = 0;     // Bytes.
  uint64_t weight = 0;    // 0: takes its least.
  uint64_t most = 0;      // Bytes.
  // The stage that claims it; empty for what the process shares. The plan fills it in.
  std::string_view stage = {};
};
using MemoryClaims = std::vector<MemoryClaim>;

// Partitions that this process is planned for.
struct PartitionCounts {
  uint64_t plays;        // Of the topics of plays.
  uint64_t pipeline;     // Of user-events, and as many of user-batches.
  uint64_t for_queries;  // Of user-events, whose recent plays a serve process keeps.
};

// A consumer's queue. One of less than `least` a partition stalls for a second again and again (librdkafka 2.0.2); one
// of more than `most` gains nothing.
inline MemoryClaim queue_claim(MemoryUse use, std::string_view name, uint64_t partitions, uint64_t weight) {
  constexpr uint64_t kLeast = 1 * kMiB, kMost = 32 * kMiB;
  return {use, name, partitions * kLeast, weight, partitions * kMost};
}

}  // namespace bloomring
