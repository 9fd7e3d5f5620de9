// SIGTERM and SIGINT as a value that the main thread asks for. A second signal ends the process at once.
#pragma once

#include <cstdint>

namespace bloomring {

// Blocks both signals in this thread and in every thread made later: to be called first.
void hold_stop_signals();
// Waits at most `timeout_ms` for one of them. After it came, the next one has its default effect: the process ends.
bool stop_signal_within(int timeout_ms);
bool stop_signal_within_ns(int64_t timeout_ns);

}  // namespace bloomring
