#include "pipeline/runtime/wait.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace bloomring {

namespace {
constexpr std::chrono::milliseconds kLookAgain{20};
}

Status wait_until(const Clock& clock, int64_t bound_ms, const std::string& what,
                  const std::function<Result<bool>()>& met) {
  std::mutex mutex;
  std::condition_variable never;
  const int64_t deadline_ns = clock.steady_ns() + bound_ms * 1'000'000;
  for (;;) {
    BLOOMRING_TRY_ASSIGN(const bool done, met());
    if (done) return {};
    if (clock.steady_ns() > deadline_ns)
      return fatal("waited " + std::to_string(bound_ms / 1000) + " s in vain for " + what);
    std::unique_lock lock(mutex);
    never.wait_for(lock, kLookAgain);
  }
}

}  // namespace bloomring
