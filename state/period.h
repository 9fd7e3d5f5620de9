// Periods, the window a query reads, and when a filter expires: calendar arithmetic in the configured time zone.
//
// The period of an event is the month (week, day) of its own event time. A filter is kept for `retention_periods`
// after its period and then expires at a moment that is random but fixed for a (user key, period): on one day of the
// period in which it falls due (for days: that day), between 00:00 and 05:00 local time, so that no month begins with
// a wave of deletions.
// Thread safety: immutable after creation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace bloomring {

enum class PeriodUnit : uint8_t { kMonth, kWeek, kDay };

struct RetentionConfig {
  std::string time_zone = "UTC";       // An IANA name.
  PeriodUnit unit = PeriodUnit::kMonth;
  uint32_t periods_read = 4;           // [1, 64]: the current one and those before it.
  uint32_t retention_periods = 6;      // [periods_read - 1, 1000]: whole periods kept after the filter's own.
  int64_t ahead_ms = 10 * 60 * 1000;   // How far ahead of the clock an event time may be.
};

class Calendar {
 public:
  // kInvalid for an unknown time zone or a value out of range, naming it.
  static Result<Calendar> create(const RetentionConfig& config);

  PeriodIndex period_of_ms(int64_t time_ms) const;
  PeriodIndex period_of(QuarterIndex quarter) const;   // Quarters never straddle periods (base/ids.h).
  int64_t start_ms(PeriodIndex period) const;          // First millisecond of the period.
  // "2026-11", "2026-W47" (ISO week), "2026-11-21".
  std::string name(PeriodIndex period) const;

  // The periods that a query at `now_ms` reads, newest first: from the period that holds now + ahead_ms (an event may
  // be that far ahead) back to periods_read - 1 before the one that holds now.
  std::vector<PeriodIndex> window(int64_t now_ms) const;
  // When the filter of this user key and period is gone: Unix milliseconds. `user_hash` from base/hash.h.
  int64_t expires_at_ms(uint64_t user_hash, PeriodIndex period) const;
  // True when a filter of the period could still be read or kept at `now_ms` for this user.
  bool kept(uint64_t user_hash, PeriodIndex period, int64_t now_ms) const { return now_ms < expires_at_ms(user_hash, period); }

  const RetentionConfig& config() const { return config_; }

 private:
  struct Zone;
  Calendar() = default;
  RetentionConfig config_;
  std::shared_ptr<const Zone> zone_;  // Shared by copies of the calendar; immutable.
};

}  // namespace bloomring
