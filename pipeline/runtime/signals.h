// SIGTERM, SIGINT and SIGUSR1 as values that the main thread polls. A second signal ends the process at once.
//
// All three make the process stop in order, with everything durable. After SIGTERM and SIGINT the process is expected
// back: it keeps its place in its consumer groups until the session times out. After SIGUSR1 it is not: its partitions
// move at once.
#pragma once

#include <cstdint>

namespace bloomring {

// Blocks the signals in this thread and in every thread made later. To be called first.
void hold_stop_signals();
// Waits at most `timeout_ms` for one of them. After it, the next signal has its default effect: it ends the process.
bool stop_signal_within(int timeout_ms);
bool stop_signal_within_ns(int64_t timeout_ns);
// True when the signal received was SIGUSR1.
bool leave_signal_came();

}  // namespace bloomring
