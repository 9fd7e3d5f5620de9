#include "serving/service/waiting_append.h"

#include "serving/query/public_reason.h"

namespace bloomring {

namespace {

// The log's failure, without what only its operator should read.
Status for_callers(const Status& failure) { return Status(failure.code(), "the log " + public_reason(failure)); }

}  // namespace

WaitingAppend::WaitingAppend(Durable durable, Ended ended) : durable_(std::move(durable)), ended_(std::move(ended)) {}

void WaitingAppend::end(Result<Appended> appended) {
  if (!decided_.exchange(true)) ended_(std::move(appended));
}

void WaitingAppend::begin(EventLog& log, const UserKey& user_key, std::span<const Event> events,
                          gpr_timespec patience_end) {
  // gRPC always calls the timer's function, also after a cancel: releasing `self` in it ends the reference cycle.
  alarm_.Set(patience_end, [self = shared_from_this()](bool) mutable {
    const std::shared_ptr<WaitingAppend> append = std::move(self);
    append->end(retry("the log has not acknowledged it in time; it may be there"));
  });
  log.append(user_key, events, [append = shared_from_this()](Result<Appended> appended) {
    if (appended.ok()) append->durable_(*appended);
    append->end(appended.ok() ? std::move(appended) : for_callers(appended.status()));
    append->alarm_.Cancel();
  });
}

}  // namespace bloomring
