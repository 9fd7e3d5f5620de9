#include "state/period.h"

#include <absl/time/civil_time.h>
#include <absl/time/time.h>

#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <random>

#include "base/hash.h"
#include "tests/support/instrumented.h"

using namespace bloomring;

namespace {

Calendar calendar(const std::string& zone, PeriodUnit unit = PeriodUnit::kMonth, uint32_t retention = 6) {
  RetentionConfig config;
  config.time_zone = zone;
  config.unit = unit;
  config.retention_periods = retention;
  return std::move(Calendar::create(config)).value();
}

absl::TimeZone zone_of(const Calendar& c) {
  absl::TimeZone tz;
  REQUIRE(absl::LoadTimeZone(c.config().time_zone, &tz));
  return tz;
}

// "2026-11-30T23:59:59.999+08:00" to Unix milliseconds.
int64_t at(const std::string& rfc3339) {
  absl::Time time;
  std::string error;
  REQUIRE(absl::ParseTime(absl::RFC3339_full, rfc3339, &time, &error));
  return absl::ToUnixMillis(time);
}

std::vector<std::string> window_names(const Calendar& c, int64_t now_ms) {
  std::vector<std::string> names;
  for (const PeriodIndex p : c.window(now_ms)) names.push_back(c.name(p));
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("period: months count from 1970-01, weeks from the Monday before, days from 1970-01-01") {
  CHECK(calendar("UTC").name(PeriodIndex(0)) == "1970-01");
  CHECK(calendar("UTC").name(PeriodIndex(683)) == "2026-12");
  CHECK(calendar("UTC", PeriodUnit::kWeek).start_ms(PeriodIndex(0)) == at("1969-12-29T00:00:00Z"));
  CHECK(calendar("UTC", PeriodUnit::kDay).period_of_ms(at("1970-01-02T00:00:00Z")) == PeriodIndex(1));
}

TEST_CASE("period: a month turns at local midnight") {
  const Calendar shanghai = calendar("Asia/Shanghai");
  CHECK(shanghai.name(shanghai.period_of_ms(at("2026-11-30T23:59:59.999+08:00"))) == "2026-11");
  CHECK(shanghai.name(shanghai.period_of_ms(at("2026-12-01T00:00:00+08:00"))) == "2026-12");
  CHECK(shanghai.start_ms(PeriodIndex(683)) == at("2026-11-30T16:00:00Z"));

  const Calendar new_york = calendar("America/New_York", PeriodUnit::kDay);
  CHECK(new_york.name(new_york.period_of_ms(at("2026-03-08T23:59:59-04:00"))) == "2026-03-08");  // 23 hours long.
  CHECK(new_york.name(new_york.period_of_ms(at("2026-11-01T00:00:00-04:00"))) == "2026-11-01");  // 25 hours long.
  CHECK(new_york.start_ms(new_york.period_of_ms(at("2026-11-02T12:00:00-05:00"))) == at("2026-11-02T00:00:00-05:00"));
}

TEST_CASE("period: zones of 30 and 45 minutes turn on a quarter of an hour") {
  for (const auto& [zone, offset] : std::map<std::string, std::string>{
           {"Asia/Kolkata", "+05:30"}, {"Asia/Kathmandu", "+05:45"}, {"Australia/Eucla", "+08:45"}}) {
    const Calendar c = calendar(zone);
    CHECK(c.start_ms(PeriodIndex(683)) == at("2026-12-01T00:00:00" + offset));
    CHECK(c.period_of(QuarterIndex(c.start_ms(PeriodIndex(683)) / kQuarterMs)) == PeriodIndex(683));
    CHECK(c.period_of(QuarterIndex(c.start_ms(PeriodIndex(683)) / kQuarterMs - 1)) == PeriodIndex(682));
  }
}

TEST_CASE("period: ISO weeks belong to the year of their Thursday") {
  const Calendar c = calendar("UTC", PeriodUnit::kWeek);
  const auto name = [&](const std::string& date) { return c.name(c.period_of_ms(at(date + "T12:00:00Z"))); };
  CHECK(name("2026-11-21") == "2026-W47");
  CHECK(name("2020-12-31") == "2020-W53");
  CHECK(name("2021-01-03") == "2020-W53");
  CHECK(name("2021-01-04") == "2021-W01");
  CHECK(name("2024-12-29") == "2024-W52");
  CHECK(name("2024-12-30") == "2025-W01");
}

TEST_CASE("period: a time lies in the civil month, week or day of its zone") {
  const std::string zone = GENERATE("UTC", "Asia/Shanghai", "America/New_York", "Europe/Berlin", "Asia/Kathmandu",
                                    "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Cairo", "Pacific/Apia");
  const Calendar months = calendar(zone), days = calendar(zone, PeriodUnit::kDay);
  const Calendar weeks = calendar(zone, PeriodUnit::kWeek);
  const absl::TimeZone tz = zone_of(months);
  std::mt19937_64 rng(1);
  for (int i = 0; i < 20000; ++i) {
    // 2000 to 2100; every other one within minutes of a day's start.
    int64_t ms = 946684800000 + static_cast<int64_t>(rng() % 3155760000000);
    if (i % 2 == 0) ms = days.start_ms(days.period_of_ms(ms)) + static_cast<int64_t>(rng() % 240000) - 120000;
    const absl::CivilDay day = absl::ToCivilDay(absl::FromUnixMillis(ms), tz);
    REQUIRE(days.period_of_ms(ms).value == day - absl::CivilDay(1970, 1, 1));
    REQUIRE(months.period_of_ms(ms).value == absl::CivilMonth(day) - absl::CivilMonth(1970, 1));
    const auto monday = absl::PrevWeekday(day + 1, absl::Weekday::monday);
    REQUIRE(weeks.period_of_ms(ms).value == (monday - absl::CivilDay(1969, 12, 29)) / 7);
  }
}

TEST_CASE("period: starts and look-ups agree for every period, and a quarter never straddles two") {
  const PeriodUnit unit = GENERATE(PeriodUnit::kMonth, PeriodUnit::kWeek, PeriodUnit::kDay);
  const std::string zone = GENERATE("Asia/Shanghai", "America/St_Johns", "America/Havana", "Africa/Monrovia");
  const Calendar c = calendar(zone, unit);
  const int32_t last = c.period_of_ms(std::numeric_limits<int64_t>::max()).value;
  for (int32_t p = 1; p <= last; ++p) {
    const int64_t start = c.start_ms(PeriodIndex(p));
    REQUIRE(start % kQuarterMs == 0);
    REQUIRE(c.period_of_ms(start) == PeriodIndex(p));
    REQUIRE(c.period_of_ms(start - 1) == PeriodIndex(p - 1));
    REQUIRE(c.period_of(QuarterIndex(start / kQuarterMs)) == PeriodIndex(p));
  }
}

TEST_CASE("period: every time has a period that a store key can name") {
  for (const PeriodUnit unit : {PeriodUnit::kMonth, PeriodUnit::kWeek, PeriodUnit::kDay}) {
    const Calendar c = calendar("UTC", unit);
    for (const int64_t ms : {std::numeric_limits<int64_t>::min(), int64_t{-1}, std::numeric_limits<int64_t>::max()}) {
      CHECK(period_has_key(c.period_of_ms(ms)));
    }
    CHECK(c.period_of_ms(std::numeric_limits<int64_t>::min()) == PeriodIndex(0));
  }
}

TEST_CASE("period: a query reads the current period and those before it, newest first") {
  const Calendar c = calendar("Asia/Shanghai");
  CHECK(window_names(c, at("2026-11-15T12:00:00+08:00")) == Names{"2026-11", "2026-10", "2026-09", "2026-08"});
  CHECK(window_names(c, 0) == Names{"1970-01"});
}

TEST_CASE("period: near a period's end a query also reads the one in which events ahead of the clock lie") {
  const Calendar c = calendar("Asia/Shanghai");
  const Names four = {"2026-11", "2026-10", "2026-09", "2026-08"};
  const Names five = {"2026-12", "2026-11", "2026-10", "2026-09", "2026-08"};
  CHECK(window_names(c, at("2026-11-30T23:49:59.999+08:00")) == four);
  CHECK(window_names(c, at("2026-11-30T23:50:00+08:00")) == five);
  CHECK(window_names(c, at("2026-11-30T23:59:59.999+08:00")) == five);
  CHECK(window_names(c, at("2026-12-01T00:00:00+08:00")) == Names{"2026-12", "2026-11", "2026-10", "2026-09"});
}

TEST_CASE("period: it is closed once no event in time can lie in it") {
  const Calendar c = calendar("Asia/Shanghai");
  CHECK_FALSE(c.closed(PeriodIndex(682), at("2026-12-01T00:09:59.999+08:00")));
  CHECK(c.closed(PeriodIndex(682), at("2026-12-01T00:10:00+08:00")));
}

TEST_CASE("expiry: it falls between 00:00 and 05:00 local time in the due period, never before retention") {
  const std::string zone = GENERATE("UTC", "Asia/Shanghai", "America/New_York", "America/Sao_Paulo", "Africa/Cairo",
                                    "America/Havana", "America/St_Johns", "Pacific/Apia", "Asia/Kathmandu");
  const PeriodUnit unit = GENERATE(PeriodUnit::kMonth, PeriodUnit::kWeek, PeriodUnit::kDay);
  const Calendar c = calendar(zone, unit);
  const absl::TimeZone tz = zone_of(c);
  const int32_t from = c.period_of_ms(at("1999-06-01T00:00:00Z")).value;
  const int32_t to = c.period_of_ms(at("2032-01-01T00:00:00Z")).value;
  for (int32_t p = from; p < to; ++p) {
    for (uint64_t user = 0; user < static_cast<uint64_t>(rounds(20)); ++user) {
      const int64_t ms = c.expires_at_ms(hash_bytes(std::to_string(user), 0), PeriodIndex(p));
      REQUIRE(c.start_ms(PeriodIndex(p + 7)) <= ms);
      REQUIRE(ms <= c.start_ms(PeriodIndex(p + 8)));
      const auto local = absl::ToCivilSecond(absl::FromUnixMillis(ms), tz);
      REQUIRE((local.hour() < 5 || (local.hour() == 5 && local.minute() == 0 && local.second() == 0)));
    }
  }
}

TEST_CASE("expiry: the days of the due month and the time of day are evenly used") {
  const Calendar c = calendar("Asia/Shanghai");
  const absl::TimeZone tz = zone_of(c);
  const PeriodIndex period = c.period_of_ms(at("2026-06-15T00:00:00Z"));  // Due in 2027-01: 31 days.
  constexpr int kUsers = 310000;
  std::map<int, int> days, hours;
  for (int user = 0; user < kUsers; ++user) {
    const int64_t ms = c.expires_at_ms(user_hash("u" + std::to_string(user)), period);
    const auto local = absl::ToCivilSecond(absl::FromUnixMillis(ms), tz);
    REQUIRE(absl::CivilMonth(local) == absl::CivilMonth(2027, 1));
    ++days[local.day()];
    ++hours[local.hour()];
  }
  CHECK(days.size() == 31);
  for (const auto& [day, users] : days) CHECK(users == Approx(kUsers / 31).epsilon(0.05));  // 5 standard deviations.
  CHECK(hours.size() == 5);
  for (const auto& [hour, users] : hours) CHECK(users == Approx(kUsers / 5).epsilon(0.02));
}

TEST_CASE("expiry: the moment is fixed for a user and a period, and differs between them") {
  const Calendar a = calendar("Asia/Shanghai"), b = calendar("Asia/Shanghai");
  const int64_t moment = a.expires_at_ms(42, PeriodIndex(683));
  CHECK(moment == b.expires_at_ms(42, PeriodIndex(683)));
  CHECK(moment != a.expires_at_ms(43, PeriodIndex(683)));
  CHECK(moment == at("2027-07-27T04:06:37.375+08:00"));  // Golden: processes of two versions agree.
}

TEST_CASE("expiry: a filter is kept until exactly its moment") {
  const Calendar c = calendar("America/New_York");
  for (uint64_t user = 0; user < 200; ++user) {
    const PeriodIndex period(static_cast<int32_t>(600 + user % 60));
    const int64_t moment = c.expires_at_ms(user, period);
    REQUIRE(c.kept(user, period, moment - 1));
    REQUIRE_FALSE(c.kept(user, period, moment));
    REQUIRE(c.kept(user, period, c.start_ms(period)));
    REQUIRE_FALSE(c.kept(user, period, c.start_ms(PeriodIndex(period.value + 8))));
  }
}

TEST_CASE("calendar: a configuration that makes no sense is refused by name") {
  const auto refused = [](auto change) {
    RetentionConfig config;
    change(config);
    const Status status = Calendar::create(config).status();
    CHECK(status.code() == Code::kInvalid);
    return status.message();
  };
  CHECK_THAT(refused([](auto& c) { c.time_zone = "Mars/Olympus"; }), Catch::Contains("Mars/Olympus"));
  CHECK_THAT(refused([](auto& c) { c.time_zone = ""; }), Catch::Contains("time zone"));
  CHECK_THAT(refused([](auto& c) { c.periods_read = 0; }), Catch::Contains("periods_read"));
  CHECK_THAT(refused([](auto& c) { c.periods_read = 64; }), Catch::Contains("periods_read"));
  CHECK_THAT(refused([](auto& c) { c.retention_periods = 2; }), Catch::Contains("retention_periods"));
  CHECK_THAT(refused([](auto& c) { c.retention_periods = 1001; }), Catch::Contains("retention_periods"));
  CHECK_THAT(refused([](auto& c) { c.ahead_ms = -1; }), Catch::Contains("ahead_ms"));
}
