// Periods, the window a query reads, and when a filter expires: calendar arithmetic in the configured time zone.
//
// The period of an event is the month (ISO week, day) of its own event time. Numbers count from the one that holds
// 1970-01-01: 1970-01 is month 0, the week of Monday 1969-12-29 is week 0, 1970-01-01 is day 0. A period begins at the
// first instant of its first day (where a clock change skips midnight: at the change), rounded up to a quarter of an
// hour, so that a quarter always lies in exactly one period.
//
// Every time has a period: times before period 0 belong to period 0, times after the last period that has a store key
// (2149-06-06 for days) to that one. Both are far outside any retention.
//
// A filter is kept for `retention_periods` whole periods after its own and falls due in the next one. It expires at a
// moment that is random but fixed for a (user key, period): on one of the due period's days, each equally likely,
// between 00:00 and 05:00 local time, so that no month begins with a wave of deletions.
//
// Cost: `period_of` is two table look-ups without any calendar arithmetic (a few nanoseconds); `kept` is as cheap
// unless the filter is in its due period. A calendar takes at most 256 KiB, shared by its copies.
// Threading: immutable after creation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/store_key.h"

namespace bloomring {

struct RetentionConfig {
  std::string time_zone = "UTC";  // An IANA name.
  PeriodUnit unit = PeriodUnit::kMonth;
  uint32_t periods_read = 4;          // [1, 63]: the current one and those before it.
  uint32_t retention_periods = 6;     // [periods_read - 1, 1000]: whole periods kept after the filter's own.
  int64_t ahead_ms = 10 * 60 * 1000;  // [0, 1 day]: how far ahead of the clock an event time may be.
};

class Calendar {
 public:
  // kInvalid for an unknown time zone or a value out of range, naming it.
  static Result<Calendar> create(const RetentionConfig& config);

  PeriodIndex period_of_ms(int64_t time_ms) const;
  PeriodIndex period_of(QuarterIndex quarter) const;  // Quarters never straddle periods (base/ids.h).
  int64_t start_ms(PeriodIndex period) const;         // First millisecond of the period.
  // "2026-11", "2026-W47" (ISO week), "2026-11-21".
  std::string name(PeriodIndex period) const;

  // The periods that a query at `now_ms` reads, newest first: from the period that holds now + ahead_ms (an event may
  // be that far ahead) back to periods_read - 1 before the one that holds now. Within ahead_ms of a period's end that
  // is one period more than periods_read.
  std::vector<PeriodIndex> window(int64_t now_ms) const;
  // True when no event of the period can arrive in time any more: its end is more than ahead_ms ago. Late and replayed
  // events still may.
  bool closed(PeriodIndex period, int64_t now_ms) const;
  // When the filter of this user key and period expires: Unix milliseconds. `user_hash` from base/hash.h.
  int64_t expires_at_ms(uint64_t user_hash, PeriodIndex period) const;
  // True when a filter of the period could still be read or kept at `now_ms` for this user.
  bool kept(uint64_t user_hash, PeriodIndex period, int64_t now_ms) const;

  const RetentionConfig& config() const { return config_; }

 private:
  struct Zone;
  Calendar() = default;
  // The period in which a filter of this one expires.
  PeriodIndex due_period(PeriodIndex period) const;

  RetentionConfig config_;
  std::shared_ptr<const Zone> zone_;  // Shared by copies of the calendar; immutable.
};

}  // namespace bloomring
