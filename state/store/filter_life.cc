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

PeriodIndex FilterLife::period_of(const FilterKey& key) const {
  if (key.unit == unit_) return key.period;
  const int64_t end_ms = of_unit(key.unit).start_ms(PeriodIndex(key.period.value + 1));
  return calendar().period_of_ms(end_ms - 1);
}

bool FilterLife::kept(const FilterKey& key, int64_t now_ms) const {
  return calendar().kept(user_hash(key.user_key), period_of(key), now_ms);
}

int64_t FilterLife::expires_at_ms(const FilterKey& key) const {
  return calendar().expires_at_ms(user_hash(key.user_key), period_of(key));
}

}  // namespace bloomring
