#include "pipeline/runtime/watchdog.h"

#include <algorithm>

#include "base/log.h"
#include "pipeline/runtime/runtime_metrics.h"

namespace bloomring {

namespace {

constexpr int64_t kLookIntervalMs = 250;
constexpr int64_t kSecondNs = 1'000'000'000;
const std::string kPart = "watchdog";

}  // namespace

Watchdog::Watchdog(const Clock& clock, int64_t stall_ms, Health& health, Metrics& metrics)
    : clock_(clock),
      stall_ns_(stall_ms * 1'000'000),
      health_(health),
      metrics_(metrics),
      thread_("watchdog", clock, [](const Status&) {}) {
  thread_.set_ticker(kLookIntervalMs, [this] { look(); });
}

void Watchdog::watch(const Worker& worker) {
  const std::lock_guard lock(mutex_);
  workers_.push_back(&worker);
}

void Watchdog::remove(const Worker& worker) {
  const std::lock_guard lock(mutex_);
  std::erase(workers_, &worker);
}

std::vector<Watchdog::Stall> Watchdog::under_way(int64_t at_least_ns) const {
  std::vector<Stall> found;
  const std::lock_guard lock(mutex_);
  const int64_t now_ns = clock_.steady_ns();
  for (const Worker* worker : workers_) {
    const auto activity = worker->activity();
    if (!activity || now_ns - activity->since_ns < at_least_ns) continue;
    found.push_back({activity->what, (now_ns - activity->since_ns) / kSecondNs});
  }
  return found;
}

std::string Watchdog::busy_with() const {
  std::string text;
  for (const Stall& one : under_way(kSecondNs)) {
    text += (text.empty() ? "" : ", ") + one.what + " for " + std::to_string(one.seconds) + " s";
  }
  return text.empty() ? "nothing" : text;
}

void Watchdog::look() {
  std::map<std::string, int64_t> stalled;
  std::string reason;
  for (const Stall& stall : under_way(stall_ns_)) {
    stalled[stall.what] = stall.seconds;
    reason +=
        (reason.empty() ? "" : "; ") + stall.what + " has made no step for " + std::to_string(stall.seconds) + " s";
    if (stalled_.contains(stall.what)) continue;
    log_error(stall.what + " has made no step for " + std::to_string(stall.seconds) + " s");
  }
  for (const auto& [what, seconds] : stalled_) {
    if (stalled.contains(what)) continue;
    log_warning(what + " goes on, after " + std::to_string(seconds) + " s or more without a step");
  }
  metrics_.gauge(metric::kStalledTasks).set(static_cast<double>(stalled.size()));
  if (!stalled.empty()) {
    health_.set_failed(kPart, reason);
  } else if (!stalled_.empty()) {
    health_.clear(kPart);
  }
  stalled_ = std::move(stalled);
}

}  // namespace bloomring
