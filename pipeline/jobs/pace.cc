#include "pipeline/jobs/pace.h"

#include <algorithm>

namespace bloomring {

namespace {

constexpr double kGatherSeconds = 0.1;

}  // namespace

uint64_t Pace::allowed(int64_t steady_ns) {
  if (filled_at_ns_ < 0) filled_at_ns_ = steady_ns;
  const double seconds = static_cast<double>(std::max<int64_t>(steady_ns - filled_at_ns_, 0)) / 1e9;
  filled_at_ns_ = steady_ns;
  const double rate = rate_ * share_;
  // At least one token must fit, or a slow job would never work.
  tokens_ = std::min(tokens_ + seconds * rate, std::max(rate * kGatherSeconds, 1.0));
  return share_ > 0 && tokens_ >= 1 ? static_cast<uint64_t>(tokens_) : 0;
}

}  // namespace bloomring
