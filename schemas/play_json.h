// A play, serve or forget as JSON, as producers write it, and what is refused.
//
// Field names are mapped by configuration, so a site's own events need no converter. Required: user, item, time.
// `event` is "play" (also when it is absent), "serve", "forget" (one item) or "forget_all" (everything of the user in
// the scene; has no item, and does not look at one).
// `user` and `item` are strings or integers (an integer is its decimal string); `time` is a number in the configured
// unit or an RFC 3339 string; unknown fields are ignored; of a repeated field the first counts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/event.h"

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
};
// An event time that is further ahead is no wrong clock but a wrong unit or field.
inline constexpr int64_t kEventAheadMaxMs = 86'400'000;
inline constexpr size_t kRefusalCount = 13;
std::string_view refusal_name(Refusal refusal);  // "malformed_json", ...

enum class TimeUnit : uint8_t { kSeconds, kMilliseconds, kMicroseconds };

struct PlayMapping {
  std::string user = "user";
  std::string item = "item";
  std::string time = "time";
  std::string scene = "scene";
  std::string event = "event";
  TimeUnit time_unit = TimeUnit::kMilliseconds;
  int64_t ahead_ms = 10 * 60 * 1000;  // Up to here an event time that is ahead is usual: see Ingest.
  size_t record_bytes_max = 65536;
};

// A parsed record. The views are valid until the parser's next call.
struct Play {
  std::string_view user;
  std::string_view item;  // Empty for kForgetAll.
  std::string_view scene;
  EventKind kind = EventKind::kPlay;
  int64_t time_ms = 0;
};

// Not thread safe; one a thread. Keeps its buffers.
class PlayParser {
 public:
  explicit PlayParser(PlayMapping mapping);
  ~PlayParser();
  PlayParser(PlayParser&&) noexcept;
  PlayParser& operator=(PlayParser&&) noexcept;

  // Parses one record. On refusal `detail()` is a sentence for the dead letter: which field, what was found.
  Refusal parse(std::string_view json, int64_t now_ms, Play& play);
  const std::string& detail() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bloomring
