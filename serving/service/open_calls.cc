#include "serving/service/open_calls.h"

#include <chrono>

namespace bloomring {

// Counts before it checks: either the waiting thread sees this call, or this call sees that it is closed.
bool OpenCalls::begin() {
  ++open_;
  if (!closed_) return true;
  end();
  return false;
}

void OpenCalls::end() {
  if (--open_ > 0 || !closed_) return;
  const std::lock_guard lock(mutex_);
  none_.notify_all();
}

void OpenCalls::close() { closed_ = true; }

bool OpenCalls::wait_until_none(int64_t bound_ms) {
  std::unique_lock lock(mutex_);
  return none_.wait_for(lock, std::chrono::milliseconds(bound_ms), [this] { return open_ == 0; });
}

}  // namespace bloomring
