#include "state/forget_rule.h"

namespace bloomring::forget_rule {

namespace {

PeriodIndex before(PeriodIndex period) { return PeriodIndex(period.value - 1); }

}  // namespace

int64_t reach_ms(const Forget& forget, bool passed, const Calendar& calendar) {
  const bool limited = forget.late || passed;
  return limited ? calendar.start_ms(calendar.period_of_ms(forget.time_ms)) - 1 : forget.time_ms;
}

PeriodIndex hidden_through(int64_t reach_ms, int64_t played_ms, const Calendar& calendar) {
  const PeriodIndex period = calendar.period_of_ms(reach_ms);
  // After the last moment of its period no play is in its filter.
  const bool may_hold_later = calendar.period_of_ms(reach_ms + 1) == period;
  return may_hold_later && counts_after(played_ms, reach_ms) ? before(period) : period;
}

PeriodIndex all_hidden_through(int64_t reach_ms, bool stored, const Calendar& calendar) {
  const PeriodIndex period = calendar.period_of_ms(reach_ms);
  return stored ? before(period) : period;
}

}  // namespace bloomring::forget_rule
