#include "state/store/filter_life.h"

#include "base/hash.h"

namespace bloomring {

namespace {

// The calendar itself, or one that differs from it only in the unit.
Calendar in_unit(const Calendar& calendar, PeriodUnit unit) {
  if (calendar.config().unit == unit) return calendar;
  RetentionConfig config = calendar.config();
  config.unit = unit;
  return std::move(Calendar::create(config)).value();  // The configuration has been accepted before.
}

}  // namespace

FilterLife::FilterLife(const Calendar& calendar)
    : unit_(calendar.config().unit),
      calendars_{in_unit(calendar, PeriodUnit::kMonth), in_unit(calendar, PeriodUnit::kWeek),
                 in_unit(calendar, PeriodUnit::kDay)} {}

bool FilterLife::kept(const FilterKey& key, int64_t now_ms) const {
  PeriodIndex period = key.period;
  if (key.unit != unit_) {
    const int64_t end_ms = of_unit(key.unit).start_ms(PeriodIndex(key.period.value + 1));
    period = calendar().period_of_ms(end_ms - 1);
  }
  return calendar().kept(user_hash(key.user_key), period, now_ms);
}

}  // namespace bloomring
