#include "state/period.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "base/hash.h"

namespace bloomring {

namespace {

constexpr uint32_t kPeriodsReadMax = 63;  // And one that is ahead: a query and a snapshot take 64 (kFiltersMax).
constexpr uint32_t kRetentionPeriodsMax = 1000;
constexpr int64_t kDayMs = 24 * 60 * 60 * 1000;
constexpr int kExpiryHourEnd = 5;
// Fixed, so that every process agrees on the moment.
constexpr uint64_t kExpiryDaySeed = 0x646179;     // "day"
constexpr uint64_t kExpiryTimeSeed = 0x74696d65;  // "time"

// Days of 1970-01-01 and of the Monday of its week.
const absl::CivilDay kEpochDay(1970, 1, 1);
const absl::CivilDay kEpochMonday(1969, 12, 29);

// The table of months covers the years in which days have keys; later months are never asked for.
constexpr int32_t kLastMonth = (2149 - 1970) * 12;
constexpr int32_t kLastWeek = kPeriodIndexMax / 7;

int32_t last_period(PeriodUnit unit) {
  if (unit == PeriodUnit::kMonth) return kLastMonth;
  return unit == PeriodUnit::kWeek ? kLastWeek : kPeriodIndexMax;
}

absl::CivilDay first_day(PeriodUnit unit, int64_t period) {
  if (unit == PeriodUnit::kMonth) return absl::CivilDay(absl::CivilMonth(1970, 1) + period);
  return unit == PeriodUnit::kWeek ? kEpochMonday + 7 * period : kEpochDay + period;
}

int64_t quarter_of(int64_t time_ms) {
  return time_ms >= 0 ? time_ms / kQuarterMs : -((-(time_ms + 1)) / kQuarterMs) - 1;
}

int64_t ceil_to_quarter(int64_t time_ms) { return (quarter_of(time_ms - 1) + 1) * kQuarterMs; }

// 64 random bits that are fixed for a user and a period.
uint64_t random_bits(uint64_t user_hash, PeriodIndex period, uint64_t seed) {
  const std::array<uint64_t, 2> facts = {user_hash, static_cast<uint64_t>(period.value)};
  return hash_bytes({reinterpret_cast<const char*>(facts.data()), sizeof facts}, seed);
}

// Maps 64 random bits to [0, bound) for a bound below 2^32, each value equally likely but for a part in 2^32.
int64_t scaled(uint64_t bits, int64_t bound) {
  return static_cast<int64_t>(((bits >> 32) * static_cast<uint64_t>(bound)) >> 32);
}

std::string week_name(absl::CivilDay monday) {
  const absl::CivilDay thursday = monday + 3;  // ISO 8601: a week belongs to the year of its Thursday.
  char text[32];
  std::snprintf(text, sizeof text, "%04d-W%02d", static_cast<int>(thursday.year()),
                (absl::GetYearDay(thursday) - 1) / 7 + 1);
  return text;
}

}  // namespace

struct Calendar::Zone {
  absl::TimeZone tz;
  std::vector<int32_t> start_quarters;  // Of the periods 0, 1, ...; not descending.
  double periods_per_quarter = 0;

  // The first instant of the day at this hour; where a clock change skips it, the change; where one repeats it, the
  // first or the second one.
  enum class Repeated { kFirst, kSecond };
  int64_t instant_ms(absl::CivilDay day, int hour, Repeated repeated) const {
    const auto info = tz.At(absl::CivilSecond(day.year(), day.month(), day.day(), hour, 0, 0));
    if (info.kind == absl::TimeZone::TimeInfo::SKIPPED) return absl::ToUnixMillis(info.trans);
    return absl::ToUnixMillis(repeated == Repeated::kFirst ? info.pre : info.post);
  }

  int64_t start_ms(PeriodUnit unit, int64_t period) const {
    return ceil_to_quarter(instant_ms(first_day(unit, period), 0, Repeated::kFirst));
  }

  void make_table(PeriodUnit unit) {
    const int32_t last = last_period(unit);
    start_quarters.reserve(static_cast<size_t>(last) + 1);
    for (int32_t p = 0; p <= last; ++p) start_quarters.push_back(static_cast<int32_t>(start_ms(unit, p) / kQuarterMs));
    periods_per_quarter = last / static_cast<double>(start_quarters.back() - start_quarters.front());
  }

  // Periods are so nearly equal that a straight line misses by one or two at most.
  PeriodIndex find(int64_t quarter) const {
    const int64_t clamped = std::clamp<int64_t>(quarter, start_quarters.front(), start_quarters.back());
    auto guess = static_cast<size_t>(static_cast<double>(clamped - start_quarters.front()) * periods_per_quarter);
    guess = std::min(guess, start_quarters.size() - 1);
    while (start_quarters[guess] > clamped) --guess;
    while (guess + 1 < start_quarters.size() && start_quarters[guess + 1] <= clamped) ++guess;
    return PeriodIndex(static_cast<int32_t>(guess));
  }
};

Result<Calendar> Calendar::create(const RetentionConfig& config) {
  if (config.periods_read < 1 || config.periods_read > kPeriodsReadMax) {
    return invalid("periods_read is " + std::to_string(config.periods_read) + ", must be 1 to 63");
  }
  if (config.retention_periods + 1 < config.periods_read || config.retention_periods > kRetentionPeriodsMax) {
    return invalid("retention_periods is " + std::to_string(config.retention_periods) + ", must be " +
                   std::to_string(config.periods_read - 1) + " (periods_read - 1) to 1000");
  }
  if (config.ahead_ms < 0 || config.ahead_ms > kDayMs) {
    return invalid("ahead_ms is " + std::to_string(config.ahead_ms) + ", must be 0 to one day");
  }
  auto zone = std::make_shared<Zone>();
  if (config.time_zone.empty() || !absl::LoadTimeZone(config.time_zone, &zone->tz)) {
    return invalid("time zone \"" + config.time_zone +
                   "\" is not known (an IANA name such as Asia/Shanghai; needs the "
                   "package tzdata)");
  }
  zone->make_table(config.unit);
  Calendar calendar;
  calendar.config_ = config;
  calendar.zone_ = std::move(zone);
  return calendar;
}

PeriodIndex Calendar::period_of_ms(int64_t time_ms) const { return zone_->find(quarter_of(time_ms)); }

PeriodIndex Calendar::period_of(QuarterIndex quarter) const { return zone_->find(quarter.value); }

int64_t Calendar::start_ms(PeriodIndex period) const {
  const auto index = static_cast<size_t>(period.value);
  if (period.value >= 0 && index < zone_->start_quarters.size()) return zone_->start_quarters[index] * kQuarterMs;
  return zone_->start_ms(config_.unit, period.value);
}

std::string Calendar::name(PeriodIndex period) const {
  const absl::CivilDay day = first_day(config_.unit, period.value);
  if (config_.unit == PeriodUnit::kWeek) return week_name(day);
  char text[48];
  const int year = static_cast<int>(day.year());
  if (config_.unit == PeriodUnit::kMonth)
    std::snprintf(text, sizeof text, "%04d-%02d", year, day.month());
  else
    std::snprintf(text, sizeof text, "%04d-%02d-%02d", year, day.month(), day.day());
  return text;
}

std::vector<PeriodIndex> Calendar::window(int64_t now_ms) const {
  const int32_t newest = period_of_ms(now_ms + config_.ahead_ms).value;
  const int32_t oldest = period_of_ms(now_ms).value - static_cast<int32_t>(config_.periods_read) + 1;
  std::vector<PeriodIndex> periods;
  for (int32_t p = newest; p >= std::max(oldest, 0); --p) periods.push_back(PeriodIndex(p));
  return periods;
}

bool Calendar::closed(PeriodIndex period, int64_t now_ms) const {
  return now_ms - config_.ahead_ms >= start_ms(PeriodIndex(period.value + 1));
}

PeriodIndex Calendar::due_period(PeriodIndex period) const {
  return PeriodIndex(period.value + static_cast<int32_t>(config_.retention_periods) + 1);
}

int64_t Calendar::expires_at_ms(uint64_t user_hash, PeriodIndex period) const {
  const PeriodIndex due = due_period(period);
  const absl::CivilDay first = first_day(config_.unit, due.value);
  const int64_t days = first_day(config_.unit, due.value + 1) - first;
  const uint64_t day_bits = random_bits(user_hash, period, kExpiryDaySeed);
  const absl::CivilDay day = first + scaled(day_bits, days);
  const int64_t from_ms = std::max(zone_->instant_ms(day, 0, Zone::Repeated::kSecond), start_ms(due));
  const int64_t to_ms = zone_->instant_ms(day, kExpiryHourEnd, Zone::Repeated::kFirst);
  if (to_ms <= from_ms) return from_ms;  // A day that the time zone left out.
  const uint64_t time_bits = random_bits(user_hash, period, kExpiryTimeSeed);
  return from_ms + scaled(time_bits, to_ms - from_ms);
}

bool Calendar::kept(uint64_t user_hash, PeriodIndex period, int64_t now_ms) const {
  const PeriodIndex due = due_period(period);
  if (now_ms < start_ms(due)) return true;
  return now_ms < start_ms(PeriodIndex(due.value + 1)) && now_ms < expires_at_ms(user_hash, period);
}

}  // namespace bloomring
