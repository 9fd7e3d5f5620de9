// One append to the event log, for which a call waits with a bound.
//
//     begun --> durable, or refused by the log  --> ended with the log's word
//          \--> patience is over                --> ended: kRetry, it may become durable yet
//
// The first of these ends it, once. `durable` is called in any case when the append becomes durable: an event in the
// log holds, whatever the caller's answer was. That may be after the end of the service.
// Threading: the log and the timer call on different threads.
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
  // `durable` is called at most once, before `ended` if both come with success; `ended` is called exactly once. On any
  // thread. Both get the place of the events in the log.
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
