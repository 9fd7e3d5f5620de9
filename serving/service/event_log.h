// The write path of the query service: events into user-events, the one ordered log. Implemented in pipeline/.
//
// Threading: thread safe. The log calls `durable` exactly once for each `append`, on any thread, possibly inside
// `append`.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/event.h"

namespace bloomring {

// The place of a durable append in the log.
struct Appended {
  Offset offset;
  int64_t log_time_ms = 0;  // Unix milliseconds, by the brokers' clocks.
};

class EventLog {
 public:
  virtual ~EventLog() = default;
  // Appends the user's events, at least one, in order, to the user's partition. `durable` gets their place when they
  // are durable, or kRetry when that is unknown (they may be in the log; appending them again is harmless). Replicas
  // may have read them by then.
  using Durable = std::function<void(Result<Appended> appended)>;
  virtual void append(const UserKey& user_key, std::span<const Event> events, Durable durable) = 0;
};

}  // namespace bloomring
