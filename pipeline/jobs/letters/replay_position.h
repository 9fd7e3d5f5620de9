// How far a job has put letters back: in each partition of the topic of dead letters, the offsets that it began with
// and the first one that is not done with.
//
//   {"v":1,"since_ms":null,"until_ms":1795000000000,"partitions":[[0,10,4711,9000]]}
//                                                     partition, from, next, to
//
// Times before now, as --until 2h, are those of the first start. Letters that came after it are not in the ranges.
// Threading: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/letters/letter_reader.h"

namespace bloomring {

struct ReplayPosition {
  struct Part {
    PartitionId partition;
    Offset from;
    Offset next;
    Offset to;
    bool operator==(const Part&) const = default;
  };
  std::optional<int64_t> since_ms, until_ms;
  std::vector<Part> parts;  // By partition.

  uint64_t total() const;
  uint64_t done() const;
  bool operator==(const ReplayPosition&) const = default;
};

std::string encode_position(const ReplayPosition& position);
// kCorrupt for anything that `encode_position` does not write.
Result<ReplayPosition> decode_position(const std::string& text);

// The ranges that are left to read, and the letters that retention removed before they were read. kInvalid when the log
// is shorter than the position: it is another one. `held` is what the log has now.
struct RangesLeft {
  std::vector<LetterRange> ranges;
  uint64_t lost = 0;
};
Result<RangesLeft> ranges_left(ReplayPosition& position, const std::vector<LetterRange>& held);

}  // namespace bloomring
