// How far an export is in the topics that it follows: its position.
//
//   {"parts":[["plays",0,1200,1850,null],["plays",1,900,901,2000]]}     topic, partition, from, next, until
//
// Offsets in [from, next) are in the old store. Without an end (null) the export follows its partition.
// Threading: values and pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "pipeline/jobs/replay/replay_range.h"
#include "pipeline/kafka/partition.h"

namespace bloomring {

struct ExportPart {
  kafka::TopicPartition at;
  Offset from;
  Offset next;
  std::optional<Offset> until = {};
  bool ended() const { return until && next >= *until; }
  bool operator==(const ExportPart&) const = default;
};
using ExportParts = std::vector<ExportPart>;

std::string encode_export(const ExportParts& parts);
// kCorrupt unless every part has 0 <= from <= next, and no part comes twice.
Result<ExportParts> decode_export(std::string_view json);

// The end of an export, as it is typed.
struct ExportEnd {
  bool follows = true;  // No end.
  ReplayBound bound = {};  // Open: the end of the log at the first start.
};
// Empty, "now", or a bound of a replay.
Result<ExportEnd> parse_export_end(const std::string& text);

// The part of a partition at the first start. kInvalid when an offset lies outside of the log, or when `from` has
// offsets and none of this partition.
Result<ExportPart> first_part(const kafka::TopicPartition& at, const LogEdges& log, const ReplayBound& from,
                              const ExportEnd& end);
// Whether the log still has what comes next. kFatal when retention has passed it, or the log is shorter.
Status check_followed(const ExportPart& part, const LogEdges& log);

}  // namespace bloomring
