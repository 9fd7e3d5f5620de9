#include "state/merged_time.h"

#include <algorithm>

namespace bloomring {

int64_t expiry_now_ms(int64_t wall_ms, std::optional<int64_t> merged_ms) {
  return merged_ms ? std::min(wall_ms, *merged_ms + kExpiryAheadMs) : 0;
}

std::optional<int64_t> later_merged_ms(std::optional<int64_t> merged_ms, int64_t hour_end_ms, int64_t wall_ms) {
  const int64_t agreed_ms = std::min(hour_end_ms, wall_ms);
  if (agreed_ms <= 0) return merged_ms;
  return std::max(merged_ms.value_or(0), agreed_ms);
}

std::optional<int64_t> ExpiryClock::merged_ms() const {
  const int64_t merged_ms = merged_ms_;
  return merged_ms == kUnknown ? std::nullopt : std::optional(merged_ms);
}

void ExpiryClock::raise_merged_ms(std::optional<int64_t> merged_ms) {
  const int64_t raised_ms = merged_ms.value_or(kUnknown);
  int64_t known_ms = merged_ms_;
  while (known_ms < raised_ms && !merged_ms_.compare_exchange_weak(known_ms, raised_ms)) {
  }
}

}  // namespace bloomring
