// SIGTERM, SIGINT and SIGUSR1 as values that the main thread asks for. A second signal ends the process at once.
//
// All three end the process with everything durable. SIGTERM and SIGINT say that it comes back: its place in its
// consumer groups is kept for the session's time. SIGUSR1 says that it does not: its partitions move at once.
#pragma once

#include <cstdint>

namespace bloomring {

// Blocks the signals in this thread and in every thread made later: to be called first.
void hold_stop_signals();
// Waits at most `timeout_ms` for one of them. After it came, the next one has its default effect: the process ends.
bool stop_signal_within(int timeout_ms);
bool stop_signal_within_ns(int64_t timeout_ns);
// Whether the signal that came was SIGUSR1.
bool leave_signal_came();

}  // namespace bloomring
