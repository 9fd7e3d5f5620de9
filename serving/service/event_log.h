// The write path of the query service: events into user-events, the one ordered log. Carried out by pipeline/.
//
// Threading: thread safe. `durable` is called exactly once for each `append`, on any thread, also from within it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/event.h"

namespace bloomring {

// Where the log has an append, for good.
struct Appended {
  Offset offset;
  int64_t log_time_ms = 0;  // Unix milliseconds, by the brokers' clocks.
};

class EventLog {
 public:
  virtual ~EventLog() = default;
  // Appends the user's events, at least one, in order, to the user's partition. `durable` is told where they
  // stand when the log has them for good; kRetry when it cannot be said that it has (they may be there; appending them
  // again is harmless). Replicas may have read them by then.
  using Durable = std::function<void(Result<Appended> appended)>;
  virtual void append(const UserKey& user_key, std::span<const Event> events, Durable durable) = 0;
};

}  // namespace bloomring
