#include "pipeline/signals.h"

#include <csignal>
#include <ctime>
#include <pthread.h>

namespace bloomring {

namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

void hold_stop_signals() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // A closed connection is an error code, not the end.
}

bool stop_signal_within(int timeout_ms) { return stop_signal_within_ns(int64_t{timeout_ms} * 1'000'000); }

bool stop_signal_within_ns(int64_t timeout_ns) {
  const sigset_t set = stop_signals();
  const timespec timeout{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
  if (sigtimedwait(&set, nullptr, &timeout) < 0) return false;
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  return true;
}

}  // namespace bloomring
