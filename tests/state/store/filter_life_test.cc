#include "state/store/filter_life.h"

#include <catch2/catch.hpp>

#include "base/hash.h"

using namespace bloomring;

namespace {

Calendar calendar(PeriodUnit unit) {
  RetentionConfig config;
  config.time_zone = "Asia/Shanghai";
  config.unit = unit;
  return std::move(Calendar::create(config)).value();
}

const std::string kUser(UserKey("", "u1").bytes());

FilterKey key(PeriodUnit unit, int32_t period) { return {shard_of(kUser), kUser, unit, PeriodIndex(period)}; }

}  // namespace

TEST_CASE("filter life: a filter of the configured unit lives as the calendar says") {
  const FilterLife life(calendar(PeriodUnit::kMonth));
  const int64_t expiry = life.calendar().expires_at_ms(user_hash(kUser), PeriodIndex(682));
  CHECK(life.kept(key(PeriodUnit::kMonth, 682), expiry - 1));
  CHECK_FALSE(life.kept(key(PeriodUnit::kMonth, 682), expiry));
}

TEST_CASE("filter life: a filter of another unit lives as long as the period in which its own ends") {
  const FilterLife months(calendar(PeriodUnit::kMonth)), days(calendar(PeriodUnit::kDay));
  const int64_t month_end = months.calendar().start_ms(PeriodIndex(683)) - 1;  // Of 2026-11.
  const PeriodIndex last_day = days.calendar().period_of_ms(month_end);
  const int64_t expiry_by_day = days.calendar().expires_at_ms(user_hash(kUser), last_day);
  CHECK(days.kept(key(PeriodUnit::kMonth, 682), expiry_by_day - 1));
  CHECK_FALSE(days.kept(key(PeriodUnit::kMonth, 682), expiry_by_day));

  const int64_t expiry_by_month = months.calendar().expires_at_ms(user_hash(kUser), PeriodIndex(682));
  CHECK(months.kept(key(PeriodUnit::kDay, last_day.value), expiry_by_month - 1));
  CHECK_FALSE(months.kept(key(PeriodUnit::kDay, last_day.value), expiry_by_month));
}

TEST_CASE("filter life: the period of each key closes by its own unit") {
  const FilterLife life(calendar(PeriodUnit::kMonth));
  const int64_t noon = life.calendar().start_ms(PeriodIndex(682)) + 36 * 3600 * 1000;  // 2026-11-02.
  CHECK_FALSE(life.closed(key(PeriodUnit::kMonth, 682), noon));
  CHECK(life.closed(key(PeriodUnit::kMonth, 681), noon));
  CHECK(life.closed(key(PeriodUnit::kDay, 20758), noon));        // 2026-11-01.
  CHECK_FALSE(life.closed(key(PeriodUnit::kDay, 20759), noon));  // 2026-11-02.
}
