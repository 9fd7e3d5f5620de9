#include "pipeline/runtime/opening.h"

namespace bloomring {

void Opening::begin(const std::string& partition, int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  partition_ = partition;
  if (since_ns_) return;
  since_ns_ = now_ns;
  log_at_ns_ = now_ns + kSilentNs;
}

void Opening::end() {
  const std::lock_guard lock(mutex_);
  if (!partition_.empty()) ++opened_;
  partition_.clear();
}

void Opening::all_done() {
  const std::lock_guard lock(mutex_);
  partition_.clear();
  opened_ = 0;
  since_ns_.reset();
}

std::string Opening::text() const {
  const std::string others = opened_ == 1 ? "1 other partition" : std::to_string(opened_) + " other partitions";
  return what_ + " of " + partition_ + ", after " + others;
}

std::string Opening::doing() const {
  const std::lock_guard lock(mutex_);
  return partition_.empty() ? "" : text();
}

std::optional<std::string> Opening::due(int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (partition_.empty() || now_ns < log_at_ns_) return std::nullopt;
  log_at_ns_ = now_ns + kLogIntervalNs;
  return text() + ", for " + std::to_string((now_ns - *since_ns_) / 1'000'000'000) + " s in all";
}

}  // namespace bloomring
