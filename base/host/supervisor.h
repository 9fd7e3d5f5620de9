// Tells systemd, or a supervisor like it, how the process fares: sd_notify's protocol, datagrams of lines NAME=VALUE to
// the Unix socket that NOTIFY_SOCKET names. Without that variable it tells nothing.
//
// Guarantees: READY=1 is told once, and the supervisor has taken it then. After it, WATCHDOG=1 is told twice in each
// interval of WATCHDOG_USEC, but only while the caller says that the process is alive. So a process that stands still
// falls silent, and is started again. It never waits for the supervisor: a datagram for which the supervisor's queue
// has no room is kRetry, and counts as not told.
// Threading: one thread.
// Errors: kRetry when the supervisor does not take the datagram, kInvalid for a name that is no socket's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bloomring {

class Supervisor {
 public:
  // `socket` is a path, or @NAME for a name in the abstract namespace; empty: nobody listens. `watchdog_us` is 0 where
  // nobody waits for a sign of life.
  explicit Supervisor(std::string socket, uint64_t watchdog_us = 0);
  // As the environment says: NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
  static Supervisor of_environment();

  // To be called until it succeeds; then it does nothing.
  Status tell_ready(std::string_view status);
  // `status` is a line for people: `systemctl status` shows it.
  Status tell_stopping(std::string_view status);
  // To be called at least twice an interval.
  Status tell_alive(bool alive, int64_t now_ns);

 private:
  Status send(const std::string& lines) const;

  std::string socket_;
  int64_t interval_ns_;  // Between signs of life; 0: none.
  bool ready_ = false;
  int64_t told_ns_ = 0;
};

}  // namespace bloomring
