// The range of a log that a replay reads, and how far it is: the position of the job.
//
//   {"parts":[["plays",0,1200,5000,1850,7000],...]}     topic, partition, from, until, next, scan_to
//
// Offsets in [from, until) are replayed, those below `next` are done. Forgets in [from, scan_to) take plays of the
// range (history_forgets.h). All is fixed at the first start, so that the replay ends, and that every later start means
// the same records.
// Threading: values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "pipeline/kafka/partition.h"

namespace bloomring {

struct ReplayPart {
  kafka::TopicPartition at;
  Offset from;
  Offset until;
  Offset next;
  Offset scan_to;  // The end of the log at the first start.
  bool operator==(const ReplayPart&) const = default;
};
using ReplayParts = std::vector<ReplayPart>;

std::string encode_parts(const ReplayParts& parts);
// kCorrupt unless every part has 0 <= from <= next <= until <= scan_to, and none comes twice.
Result<ReplayParts> decode_parts(std::string_view json);

struct ReplayProgress {
  uint64_t done = 0;
  uint64_t total = 0;
};
ReplayProgress progress_of(const ReplayParts& parts);

// One end of a range as it is typed.
struct ReplayBound {
  std::optional<int64_t> time_ms;        // By the time of records in the log.
  std::map<int32_t, Offset> offsets = {};  // By partition, of one topic; partitions without one are not replayed.
  bool open() const { return !time_ms && offsets.empty(); }
};
// An RFC 3339 time, Unix milliseconds, or PARTITION=OFFSET,...; nothing when empty. `flag` is for messages.
Result<ReplayBound> parse_bound(std::string_view flag, const std::string& text);

// The log of a partition, as it is now.
struct LogEdges {
  Offset start;
  Offset end;
  std::optional<Offset> from_time = {};   // The first record at or after the time of the bound; nothing when all are
  std::optional<Offset> until_time = {};  // older, or when there is no such bound.
};
// The part of the partition, or nothing where the log has nothing after the begin of the range. It is empty where the
// range is, and there are later records. kInvalid when an offset lies outside of the log, naming what it has.
Result<std::optional<ReplayPart>> part_of(const kafka::TopicPartition& at, const LogEdges& log, const ReplayBound& from,
                                          const ReplayBound& until);
// The part of a partition of which forgets are read and nothing is replayed.
ReplayPart scanned_part(const kafka::TopicPartition& at, const LogEdges& log);
// Whether what is left of the part is still in the log. kFatal when retention has passed it, or the log is shorter.
Status check_still_there(const ReplayPart& part, const LogEdges& log);

}  // namespace bloomring
