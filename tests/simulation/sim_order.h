// The order of a partition of user-batches, as docs/decisions/0015-commits-behind-slot-ends.md has it: every record of
// a drain stands in the log before its slot end, and what the merge stage commits lies behind a slot end.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "schemas/user_batch.h"

namespace bloomring::simulation {

class DrainOrder {
 public:
  // Takes the next record of the partition. Says what is wrong with it; empty when nothing is.
  std::string saw(std::string_view record, PartitionId partition, uint32_t partition_count);
  void saw_gap() { kinds_.push_back(Kind::kGap); }
  // Drains to come have offsets of another log.
  void begin_new_log() {
    records_.clear();
    spoken_to_ = Offset(0);
  }
  // Behind the last record of user-events that a slot end speaks of.
  Offset spoken_to() const { return spoken_to_; }
  size_t seen() const { return kinds_.size(); }
  size_t slot_ends() const { return slot_ends_; }
  // Says what is wrong with this offset as the committed one, in a log that starts at `start`: offsets without a record
  // may be committed with what is before them, and nothing was read before the start.
  std::string committed(int64_t next, int64_t start) const;

 private:
  enum class Kind : uint8_t { kBatches, kSlotEnd, kGap };
  using Key = std::tuple<int64_t, int64_t, int, uint32_t>;
  std::map<Key, std::set<uint64_t>> records_;  // Hashes of the records of each drain.
  std::vector<Kind> kinds_;                    // By offset.
  size_t slot_ends_ = 0;
  Offset spoken_to_{0};
};

}  // namespace bloomring::simulation
