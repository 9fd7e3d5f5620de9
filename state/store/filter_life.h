// Decides for a store key whether its filter is still kept and whether its period is closed, by the retention rules of
// state/period.h. Reads, unions and compactions all ask here, so they cannot disagree.
//
// A store whose site changed its unit of periods (months to days) holds keys of both. A filter of another unit is kept
// as long as one of the configured period in which its own period ends.
// Threading: immutable. Copies share their tables.
#pragma once

#include <array>
#include <cstdint>

#include "schemas/store_key.h"
#include "state/period.h"

namespace bloomring {

class FilterLife {
 public:
  explicit FilterLife(const Calendar& calendar);

  // False when the filter has expired at `now_ms`.
  bool kept(const FilterKey& key, int64_t now_ms) const;
  // When the filter expires: Unix milliseconds.
  int64_t expires_at_ms(const FilterKey& key) const;
  // True when the period of the filter is over, so that it can be folded.
  bool closed(const FilterKey& key, int64_t now_ms) const { return of_unit(key.unit).closed(key.period, now_ms); }

  const Calendar& calendar() const { return of_unit(unit_); }

 private:
  static size_t index_of(PeriodUnit unit) { return unit == PeriodUnit::kMonth ? 0 : unit == PeriodUnit::kWeek ? 1 : 2; }
  const Calendar& of_unit(PeriodUnit unit) const { return calendars_[index_of(unit)]; }

  // The configured period by which the filter is kept.
  PeriodIndex period_of(const FilterKey& key) const;

  PeriodUnit unit_;
  std::array<Calendar, 3> calendars_;  // By unit.
};

}  // namespace bloomring
