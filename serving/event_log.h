// The write path of the query service: events into user-events, the one ordered log. Carried out by pipeline/.
//
// Threading: thread safe. `durable` is called exactly once for each `append`, on any thread, also from within it.
#pragma once

#include <functional>
#include <span>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/event.h"

namespace bloomring {

class EventLog {
 public:
  virtual ~EventLog() = default;
  // Appends the user's events, in order, to the user's partition. `durable` gets ok when the log has them for good,
  // kRetry when it cannot be said that it has (they may be there; appending them again is harmless).
  virtual void append(const UserKey& user_key, std::span<const Event> events, std::function<void(Status)> durable) = 0;
};

}  // namespace bloomring
