#include "serving/waiting_append.h"

namespace bloomring {

WaitingAppend::WaitingAppend(std::function<void()> durable, std::function<void(Status)> ended)
    : durable_(std::move(durable)), ended_(std::move(ended)) {}

void WaitingAppend::end(Status status) {
  if (!decided_.exchange(true)) ended_(std::move(status));
}

void WaitingAppend::begin(EventLog& log, const UserKey& user_key, std::span<const Event> events,
                          gpr_timespec patience_end) {
  // The timer's function is always called, also when the timer is cancelled: letting go in it ends the circle.
  alarm_.Set(patience_end, [self = shared_from_this()](bool) mutable {
    const std::shared_ptr<WaitingAppend> append = std::move(self);
    append->end(retry("the log has not acknowledged it in time; it may be there"));
  });
  log.append(user_key, events, [append = shared_from_this()](Status status) {
    if (status.ok()) append->durable_();
    append->end(std::move(status));
    append->alarm_.Cancel();
  });
}

}  // namespace bloomring
