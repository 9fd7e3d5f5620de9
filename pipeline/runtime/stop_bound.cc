#include "pipeline/runtime/stop_bound.h"

#include <cstdlib>

#include "base/log.h"

namespace bloomring {

namespace {
constexpr int64_t kLookIntervalMs = 100;
}

StopBound::StopBound(const Clock& clock, int64_t bound_ms, std::function<std::string()> busy_with)
    : thread_("stop-bound", clock, [](const Status&) {}) {
  const int64_t deadline_ns = clock.steady_ns() + bound_ms * 1'000'000;
  thread_.set_ticker(kLookIntervalMs, [&clock, deadline_ns, bound_ms, busy = std::move(busy_with)] {
    if (clock.steady_ns() < deadline_ns) return;
    log_error("not ended within " + std::to_string(bound_ms / 1000) + " s, waiting for " + busy() +
              ": the process ends now; the next start reads everything that is not durable from the log again");
    std::_Exit(1);
  });
}

}  // namespace bloomring
