#include "state/redis/redis_pace.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace bloomring {

namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
constexpr int64_t kMinuteNs = 60'000'000'000;

}  // namespace

RedisPace::RedisPace(uint64_t bytes_per_second, uint32_t partitions)
    : installation_bytes_per_ns_(static_cast<double>(bytes_per_second) / 1e9),
      partitions_(std::max(1U, partitions)),
      decreased_ns_(std::numeric_limits<int64_t>::min()),
      full_ns_(std::numeric_limits<int64_t>::min()),
      quickest_ns_(kNone),
      quickest_before_ns_(kNone) {}

void RedisPace::enter(RedisPaceShare& share) {
  const std::lock_guard lock(mutex_);
  shares_.insert(&share);
}

void RedisPace::leave(RedisPaceShare& share) {
  const std::lock_guard lock(mutex_);
  shares_.erase(&share);
}

double RedisPace::bytes_per_ns() const {
  const double taken = std::clamp<double>(static_cast<double>(shares_.size()), 1, partitions_);
  return installation_bytes_per_ns_ * taken / partitions_;
}

bool RedisPace::has_place(const RedisPaceShare& share) const {
  if (share.under_way_ == 0) return true;
  const auto window = static_cast<size_t>(window_);
  if (under_way_ >= window) return false;
  size_t partitions = 0;
  bool others_wait = false;
  for (const RedisPaceShare* one : shares_) {
    partitions += one->under_way_ > 0 || one->waits_ ? 1 : 0;
    others_wait = others_wait || (one != &share && one->waits_);
  }
  // Rounded up, so that the window can become full.
  return !others_wait || share.under_way_ < (window + partitions - 1) / partitions;
}

void RedisPace::fill(int64_t now_ns) {
  const auto passed_ns = static_cast<double>(std::clamp<int64_t>(now_ns - filled_ns_, 0, kMinuteNs));
  filled_ns_ = std::max(filled_ns_, now_ns);
  const double rate = bytes_per_ns();
  bucket_bytes_ = std::min(bucket_bytes_ + passed_ns * rate, rate * static_cast<double>(kBurstNs));
}

bool RedisPace::begin(RedisPaceShare& share, uint64_t expected_bytes, int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (under_way_ >= static_cast<size_t>(window_)) full_ns_ = now_ns;
  share.waits_ = true;
  if (!has_place(share)) return false;
  if (installation_bytes_per_ns_ > 0) {
    fill(now_ns);
    if (bucket_bytes_ < 0) return false;
    bucket_bytes_ -= static_cast<double>(expected_bytes);
  }
  share.waits_ = false;
  ++share.under_way_;
  ++under_way_;
  return true;
}

void RedisPace::rest(RedisPaceShare& share) {
  const std::lock_guard lock(mutex_);
  share.waits_ = false;
}

void RedisPace::correct(uint64_t expected_bytes, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (installation_bytes_per_ns_ > 0) bucket_bytes_ += static_cast<double>(expected_bytes) - static_cast<double>(bytes);
}

bool RedisPace::is_slow(int64_t took_ns, int64_t now_ns) {
  if (now_ns - minute_ns_ >= kMinuteNs) {
    quickest_before_ns_ = now_ns - minute_ns_ < 2 * kMinuteNs ? quickest_ns_ : kNone;
    quickest_ns_ = kNone;
    minute_ns_ = now_ns;
  }
  quickest_ns_ = std::min(quickest_ns_, took_ns);
  const int64_t quickest_ns = std::min(quickest_ns_, quickest_before_ns_);
  return took_ns > std::max(kSlowLeastNs, kSlowFactor * quickest_ns);
}

void RedisPace::end(RedisPaceShare& share, int64_t begun_ns, int64_t now_ns, bool answered) {
  const std::lock_guard lock(mutex_);
  --share.under_way_;
  --under_way_;
  const bool slow = !answered || is_slow(now_ns - begun_ns, now_ns);
  if (!slow) {
    // A window that nobody needs is not known to be good.
    if (full_ns_ >= begun_ns) window_ = std::min<double>(kWindowMost, window_ + 1 / window_);
    return;
  }
  if (begun_ns <= decreased_ns_) return;
  decreased_ns_ = now_ns;
  window_ = std::max(1.0, window_ / 2);
}

void RedisPace::end_untimed(RedisPaceShare& share) {
  const std::lock_guard lock(mutex_);
  --share.under_way_;
  --under_way_;
}

std::shared_ptr<RedisPacePlace> RedisPacePlace::begin(RedisPaceShare& share, uint64_t expected_bytes, int64_t now_ns) {
  if (!share.pace().begin(share, expected_bytes, now_ns)) return nullptr;
  return std::shared_ptr<RedisPacePlace>(new RedisPacePlace(share, expected_bytes));  // Shared: see the header.
}

void RedisPacePlace::end(int64_t begun_ns, int64_t now_ns, bool answered) {
  if (!std::exchange(ended_, true)) share_.pace().end(share_, begun_ns, now_ns, answered);
}

void RedisPacePlace::end_untimed() {
  if (!std::exchange(ended_, true)) share_.pace().end_untimed(share_);
}

size_t RedisPace::window() const {
  const std::lock_guard lock(mutex_);
  return static_cast<size_t>(window_);
}

size_t RedisPace::under_way() const {
  const std::lock_guard lock(mutex_);
  return under_way_;
}

}  // namespace bloomring
