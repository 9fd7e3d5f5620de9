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

bool stop_signal_within(int timeout_ms) {
  const sigset_t set = stop_signals();
  const timespec timeout{timeout_ms / 1000, (timeout_ms % 1000) * 1'000'000L};
  if (sigtimedwait(&set, nullptr, &timeout) < 0) return false;
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  return true;
}

}  // namespace bloomring
