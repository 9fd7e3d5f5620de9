#include "pipeline/runtime/port_watch.h"

#include <utility>

#include "base/log.h"

namespace bloomring {

PortWatch::PortWatch(std::string part, std::function<Status()> ask, const Clock& clock, int64_t deaf_ms, Health& health)
    : part_(std::move(part)),
      ask_(std::move(ask)),
      clock_(clock),
      deaf_ns_(deaf_ms * 1'000'000),
      health_(health),
      last_answer_ns_(clock.steady_ns()) {}

void PortWatch::look() {
  const int64_t asked_ns = clock_.steady_ns();
  const Status answered = ask_();
  if (answered.ok()) {
    last_answer_ns_ = asked_ns;
    if (!std::exchange(deaf_, false)) return;
    health_.clear(part_);
    log_warning(part_ + " answers again");
    return;
  }
  const int64_t silent_ns = clock_.steady_ns() - last_answer_ns_;
  if (silent_ns < deaf_ns_) return;
  const std::string reason = answered.message() + ", for " + std::to_string(silent_ns / 1'000'000'000) + " s";
  health_.set_failed(part_, reason);
  if (!std::exchange(deaf_, true)) log_error(reason);
}

}  // namespace bloomring
