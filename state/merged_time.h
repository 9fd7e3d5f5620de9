// The time by which filters expire: the wall clock and merged log time decide together, so that neither decides alone.
//
// Merged log time of a partition is the end of the newest merged hour of its log, but never ahead of the wall clock of
// the merging process at the merge. Each watermark in the store holds it (schemas/watermark.h); merged log time of the
// store is the latest of them.
//
// Guarantees: expiry never runs ahead of merged log time by more than a day, so a wall clock that is months ahead
// deletes nothing. A log time that is far ahead deletes nothing either, as long as the wall clock is right. Without a
// known merged log time (a new store, one of an older format, one whose watermarks were removed) nothing expires. A
// clock that is behind, and a store without merges, only delay expiry.
// Threading: ExpiryClock is thread safe; the functions are pure.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace bloomring {

// How far expiry may run ahead of merged log time: an hour is merged within two hours, an outage may add to that.
inline constexpr int64_t kExpiryAheadMs = 24LL * 60 * 60 * 1000;

// The time by which filters expire: the earlier of the wall clock and merged log time plus a day. Without a known
// merged log time it is 1970-01-01, at which nothing has expired.
int64_t expiry_now_ms(int64_t wall_ms, std::optional<int64_t> merged_ms);

// Merged log time after an hour that ended at `hour_end_ms` was merged: it never goes back, and never beyond the wall.
std::optional<int64_t> later_merged_ms(std::optional<int64_t> merged_ms, int64_t hour_end_ms, int64_t wall_ms);

// The clock of a filter store. Steady time is that of the wall's clock.
class ExpiryClock final : public Clock {
 public:
  // `wall` outlives this one.
  explicit ExpiryClock(const Clock& wall) : wall_(wall) {}

  int64_t now_ms() const override { return expiry_now_ms(wall_.now_ms(), merged_ms()); }
  int64_t steady_ns() const override { return wall_.steady_ns(); }

  int64_t wall_ms() const { return wall_.now_ms(); }
  std::optional<int64_t> merged_ms() const;
  void set_merged_ms(std::optional<int64_t> merged_ms) { merged_ms_ = merged_ms.value_or(kUnknown); }
  // Takes the time if it is later than the known one.
  void raise_merged_ms(std::optional<int64_t> merged_ms);

 private:
  static constexpr int64_t kUnknown = -1;

  const Clock& wall_;
  std::atomic<int64_t> merged_ms_{kUnknown};
};

}  // namespace bloomring
