#include "pipeline/runtime/start_wait.h"

#include "absl/time/time.h"
#include "base/log.h"
#include "pipeline/runtime/wait.h"

namespace bloomring {

namespace {

constexpr int64_t kPauseMs = 200;
constexpr int64_t kLogIntervalNs = 10'000'000'000;
constexpr const char* kPart = "start";  // Of the process's health.

std::string utc(int64_t ms) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixMillis(ms), absl::UTCTimeZone());
}

}  // namespace

StartWait::StartWait(const Clock& clock, Health& health, int64_t bound_ms)
    : clock_(clock), health_(health), bound_ms_(bound_ms), began_ns_(clock.steady_ns()) {
  health_.set_not_ready(kPart, "starting");
}

Status StartWait::until(const std::string& what, const std::function<Status()>& attempt) {
  const int64_t since_ns = clock_.steady_ns();
  const std::string since = what + " since " + utc(clock_.now_ms());
  int64_t log_at_ns = since_ns;
  while (!given_up_) {
    Status status = attempt();
    const int64_t now_ns = clock_.steady_ns();
    if (status.code() != Code::kRetry) {
      if (log_at_ns > since_ns && status.ok())
        log_info("the start goes on", {{"waited_for", what}, {"seconds", (now_ns - since_ns) / 1'000'000'000}});
      report("", false);
      return status;
    }
    const bool log = now_ns >= log_at_ns;
    if (log) log_at_ns = now_ns + kLogIntervalNs;
    report(since + ": " + status.message(), log);
    if (is_over()) {
      return fatal("waited " + std::to_string((now_ns - began_ns_) / 1'000'000'000) + " s in vain for " + what + ": " +
                   status.message() + " (process.start_seconds bounds the wait)");
    }
    static_cast<void>(wait_until(clock_, kPauseMs, what, [this]() -> Result<bool> { return given_up(); }));
  }
  return fatal("told to end while waiting for " + what);
}

bool StartWait::is_over() const {
  return bound_ms_ > 0 && clock_.steady_ns() - began_ns_ >= bound_ms_ * 1'000'000;
}

void StartWait::report(const std::string& text, bool log) {
  health_.set_not_ready(kPart, text.empty() ? "starting" : "waiting for " + text);
  if (log) log_warning("waiting for " + text);
  const std::lock_guard lock(mutex_);
  waiting_for_ = text;
}

std::string StartWait::waiting_for() const {
  const std::lock_guard lock(mutex_);
  return waiting_for_;
}

void StartWait::done() { health_.clear(kPart); }

}  // namespace bloomring
