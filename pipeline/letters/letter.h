// A dead letter, as its reader sees it: the writer is pipeline/tasks/dead_letter.h, the format docs/formats.md.
//
// A record of the topic of dead letters that another program wrote is no letter: it is foreign. So is one whose headers
// do not say where the refused record lies. Of a header that occurs twice the first one counts, as the writer puts its
// own before those of the refused record.
// Threading: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "pipeline/io/io.h"

namespace bloomring {

struct Letter {
  std::string reason;   // A word of refusal_name, or one of a newer version.
  std::string message;  // For people.
  std::string stage;    // "ingest", "window", "merge", or "replay", the job.
  // Where the refused record lies, or has lain.
  std::string topic;
  PartitionId partition;
  Offset offset;
  int64_t log_time_ms = -1;  // Its timestamp; negative: not known. Letters of older versions do not tell.
  int64_t refused_ms = 0;
  std::string key;
  std::string value;
  RecordHeaders headers;  // Those of the refused record.
  // The original lengths of what was cut.
  std::optional<uint64_t> key_bytes, value_bytes, headers_bytes;
  uint32_t replays = 0;       // How often the record was put back before it was refused...
  std::string replayed_from;  // ...and from which letter last; empty: never.

  bool of_a_play() const { return stage == "ingest" || stage == "replay"; }
  bool cut() const { return key_bytes || value_bytes || headers_bytes; }
  uint64_t whole_value_bytes() const { return value_bytes.value_or(value.size()); }
  // False for another record: its place has one where the topic was made again.
  bool is_part_of(std::string_view whole_value) const;
};

// Nothing: the record is foreign.
std::optional<Letter> read_letter(std::string_view key, std::string_view value, const RecordHeaders& headers);

// A record of the topic of dead letters.
struct DeadRecord {
  PartitionId partition = {};
  Offset offset = {};
  int64_t log_time_ms = 0;
  uint64_t bytes = 0;  // Of key and value.
  std::optional<Letter> letter = {};  // Nothing: the record is foreign.
};

// "missing_field" for a reason of the closed list, "other" for every other one: the number of words is bounded.
std::string_view known_reason(std::string_view reason);

}  // namespace bloomring
