// Derives the memory bounds of all parts of a process from one number, memory.limit.
//
// Each part has a least size, below which the stages of this process cannot work, and a weight. The limit less the
// least sizes is divided by weight; the parts that can use more share the rest of a part that cannot. The parts add up
// to the limit, so the resident memory of the process stays below it as long as each part stays within its bound.
//
// Parts are budgets of resident memory, not of payload: a queue of librdkafka takes about four times the bytes of
// small records that it counts (see kPlayQueueOverhead in pipeline/stages/ingest_stage.cc). One part can exceed its
// bound: plays that are not merged are never dropped (docs/decisions/0006), so the recent plays outgrow their part
// when the merge stage is behind for longer than memory lasts. A metric says so.
// Threading: pure functions and values.
// Errors: kInvalid with the least limit that works and its parts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pipeline/settings/memory_claim.h"
#include "pipeline/settings/settings.h"

namespace bloomring {

struct MemoryPart {
  MemoryUse use;
  std::string_view name;  // "ingest queue"
  uint64_t bytes = 0;
  uint64_t least = 0;
  std::string_view stage = {};  // Empty for what the process shares.
};

class MemoryPlan {
 public:
  explicit MemoryPlan(std::vector<MemoryPart> parts) : parts_(std::move(parts)) {}
  // Of all stages together; 0 when the process has no such part.
  uint64_t of(MemoryUse use) const;
  // The part of one stage.
  uint64_t of(MemoryUse use, std::string_view stage) const;
  // The parts of this process; they add up to the limit.
  const std::vector<MemoryPart>& parts() const { return parts_; }
  uint64_t total() const;

  // Bytes of one pass of a drain. Each window thread runs one pass at a time. Every fourth partition may also wait
  // with the records of a pass, which take a quarter of its bytes.
  uint64_t drain_pass_bytes(const Settings& settings) const;

 private:
  std::vector<MemoryPart> parts_;  // By use, then by stage.
};

// Drain passes that take memory at the same time.
uint64_t drains_at_once(const Settings& settings);
// Partitions of the topics of plays where bloomring makes them.
uint64_t plays_made(const Settings& settings);

// For the stages that the settings name. `plays_partitions` is how many the topics of plays have together, as the
// brokers say; where nobody was asked it is what they are made with (topics.plays_partitions each).
Result<MemoryPlan> plan_memory(const Settings& settings, std::optional<uint64_t> plays_partitions = {});

// "2 GiB", "1.5 MiB": for people.
std::string bytes_text(uint64_t bytes);

}  // namespace bloomring
