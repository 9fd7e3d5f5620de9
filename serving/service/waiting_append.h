// One append to the event log that a call waits for, but not for ever.
//
//     begun --> durable, or refused by the log  --> ended with the log's word
//          \--> patience is over                --> ended: kRetry, it may become durable yet
//
// Whichever comes first ends it, once. `durable` is told in any case when it comes to be: what is in the log holds,
// whatever the caller was answered.
// Threading: the log and the timer come on different threads.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "serving/service/event_log.h"

namespace bloomring {

class WaitingAppend final : public std::enable_shared_from_this<WaitingAppend> {
 public:
  // `durable` is called at most once, before `ended` where both are; `ended` exactly once. On any thread. Both are
  // told where the events stand in the log.
  using Durable = std::function<void(const Appended& appended)>;
  using Ended = std::function<void(Result<Appended> appended)>;
  WaitingAppend(Durable durable, Ended ended);

  void begin(EventLog& log, const UserKey& user_key, std::span<const Event> events, gpr_timespec patience_end);

 private:
  void end(Result<Appended> appended);

  const Durable durable_;
  const Ended ended_;
  std::atomic<bool> decided_{false};
  grpc::Alarm alarm_;
};

}  // namespace bloomring
