#include "operators/refusal_watch.h"

#include <utility>

namespace bloomring {

std::string to_string(const RefusedRecord& record) {
  return record.topic + "[" + std::to_string(record.partition.value) + "] at offset " +
         std::to_string(record.offset.value) + ": " + std::string(refusal_name(record.reason)) + ": " + record.detail;
}

void RefusalWatch::note(int64_t now_ms, uint64_t read, uint64_t refused, const RefusedRecord& first) {
  const int64_t tenth = now_ms / (kShareMs / kTenths);
  Counts& counts = tenths_[static_cast<size_t>(tenth % kTenths)];
  if (counts.tenth != tenth) counts = {tenth, 0, 0};
  counts.read += read;
  counts.refused += refused;
  read_since_warning_ += read;
  if (refused == 0) return;
  last_ = first;
  if (!pending_) pending_ = Warning{first, 0, 0};
  pending_->refused += refused;
}

std::optional<RefusalWatch::Warning> RefusalWatch::take_warning(int64_t now_ms) {
  if (!pending_ || (warned_at_ms_ && now_ms - *warned_at_ms_ < kWarnIntervalMs)) return std::nullopt;
  warned_at_ms_ = now_ms;
  pending_->read = read_since_warning_;
  read_since_warning_ = 0;
  return std::exchange(pending_, std::nullopt);
}

RefusalWatch::Counts RefusalWatch::of_last_minute(int64_t now_ms) const {
  const int64_t newest = now_ms / (kShareMs / kTenths);
  Counts sum;
  for (const Counts& counts : tenths_) {
    if (counts.tenth < 0 || counts.tenth <= newest - kTenths) continue;
    sum.read += counts.read;
    sum.refused += counts.refused;
  }
  return sum;
}

double RefusalWatch::share(int64_t now_ms) const {
  const Counts sum = of_last_minute(now_ms);
  return sum.read == 0 ? 0 : static_cast<double>(sum.refused) / static_cast<double>(sum.read);
}

bool RefusalWatch::degraded(int64_t now_ms) const {
  return of_last_minute(now_ms).read >= kRecordsMin && share(now_ms) > share_max_;
}

}  // namespace bloomring
