#include "serving/waiting_append.h"

namespace bloomring {

WaitingAppend::WaitingAppend(Durable durable, Ended ended) : durable_(std::move(durable)), ended_(std::move(ended)) {}

void WaitingAppend::end(Result<int64_t> log_time_ms) {
  if (!decided_.exchange(true)) ended_(std::move(log_time_ms));
}

void WaitingAppend::begin(EventLog& log, const UserKey& user_key, std::span<const Event> events,
                          gpr_timespec patience_end) {
  // The timer's function is always called, also when the timer is cancelled: letting go in it ends the circle.
  alarm_.Set(patience_end, [self = shared_from_this()](bool) mutable {
    const std::shared_ptr<WaitingAppend> append = std::move(self);
    append->end(retry("the log has not acknowledged it in time; it may be there"));
  });
  log.append(user_key, events, [append = shared_from_this()](Result<int64_t> log_time_ms) {
    if (log_time_ms.ok()) append->durable_(*log_time_ms);
    append->end(std::move(log_time_ms));
    append->alarm_.Cancel();
  });
}

}  // namespace bloomring
