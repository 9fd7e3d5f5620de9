// The reasons why a stage refuses a record: ingest a play, the window stage an event block, the merge stage a batch.
// Threading: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bloomring {

// Why a record is refused: a closed list, the label of metrics and the header of dead letters.
enum class Refusal : uint8_t {
  kNone,
  kMalformedJson,
  kMissingField,
  kWrongType,
  kEmptyId,
  kIdTooLong,
  kTimeTooEarly,  // Before 2000.
  kTimeAhead,     // More than a day ahead of the clock, or beyond what the log holds.
  kUnknownEvent,
  kTooLarge,  // More than events.record_bytes_max bytes.
  kNotUtf8,
  kBadBlock,  // A record of user-events that is not an event block of this partition.
  kBadBatch,  // A record of user-batches that is neither user batches nor a slot end of this partition.
  kUnknownScene,  // Not one of events.scenes.
  kRepeatedField,  // A field of the configuration occurs more than once.
  kForgetNotAllowed,  // A forget, and the configuration takes none from topics of plays.
};
inline constexpr size_t kRefusalCount = 16;
std::string_view refusal_name(Refusal refusal);  // "malformed_json", ...

}  // namespace bloomring
