#include "pipeline/runtime/signals.h"

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <ctime>

namespace bloomring {

namespace {

std::atomic<int> came{0};

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGUSR1);
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
  const int signal = sigtimedwait(&set, nullptr, &timeout);
  if (signal < 0) return false;
  came = signal;
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  return true;
}

bool leave_signal_came() { return came == SIGUSR1; }

}  // namespace bloomring
