#include "pipeline/plan/plan_input.h"

#include <cmath>
#include <cstdio>
#include <string>

#include "pipeline/plan/record_sizes.h"
#include "schemas/store/redis_key.h"
#include "schemas/store_key.h"

namespace bloomring {

namespace {

constexpr double kDaySeconds = 86'400;
constexpr PeriodIndex kSomePeriod(683);
constexpr double kMost = 1e15;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", value);
  return text;
}

// kInvalid unless least <= value <= most.
Status check_range(const char* flag, double value, double least, double most, const char* example) {
  if (value >= least && value <= most) return {};
  return invalid(std::string(flag) + ": " + number(value) + " must be from " + number(least) + " to " + number(most) +
                 ", as " + example);
}

}  // namespace

double period_seconds(PeriodUnit unit) {
  switch (unit) {
    case PeriodUnit::kMonth: return 365.25 / 12 * kDaySeconds;
    case PeriodUnit::kWeek: return 7 * kDaySeconds;
    case PeriodUnit::kDay: return kDaySeconds;
  }
  return kDaySeconds;
}

double plays_per_day(const PlanInput& input) {
  if (input.plays_per_day > 0) return input.plays_per_day;
  if (input.shape.quantiles.empty()) return input.users * kPlaysOfUser.value.mid / 90;
  return input.users * input.shape.mean() / (period_seconds(PeriodUnit::kMonth) / kDaySeconds);
}

filter::Policy policy_of(const Settings& settings) {
  const FilterSettings& filter = settings.filter;
  return {filter.false_positive_rate, filter.periods_read, filter.dense_from_items};
}

double filter_key_bytes(const PlanInput& input) {
  constexpr uint64_t kUsers = 1000;  // A key on servers has the shard in decimal digits: a mean of many users.
  const RedisKeys names(input.settings.store.redis.prefix);
  const PeriodUnit unit = input.settings.filter.period;
  size_t bytes = 0;
  for (uint64_t number = 0; number < kUsers; ++number) {
    const std::string user = sample_user_key(input.id_bytes, number);
    bytes += input.on_servers ? names.filter(user, unit, kSomePeriod).size()
                              : filter_key(user, unit, kSomePeriod).size();
  }
  return static_cast<double>(bytes) / kUsers;
}

Status check_plan_input(const PlanInput& input) {
  BLOOMRING_TRY(check_range("--users", input.users, 1, 1e11, "50000000"));
  if (input.plays_per_day != 0)
    BLOOMRING_TRY(check_range("--plays-per-day", input.plays_per_day, 1, kMost, "5500000000"));
  BLOOMRING_TRY(check_range("--id-bytes", input.id_bytes, 1, 128, "10"));
  BLOOMRING_TRY(check_range("--replicas", input.replicas, 1, 100, "2"));
  BLOOMRING_TRY(check_range("--candidates", input.candidates, 1, input.settings.serve.candidates_max, "5000"));
  BLOOMRING_TRY(check_range("--repeats", input.repeats, 0, 0.99, "0.05"));
  BLOOMRING_TRY(check_range("--peak", input.peak, 1, 24, "1.65"));
  BLOOMRING_TRY(check_range("--plays-per-session", input.plays_per_session, 1, 1e6, "20"));
  BLOOMRING_TRY(check_range("--plays-per-call", input.plays_per_call, 0.01, 1e6, "8"));
  BLOOMRING_TRY(check_range("--serves-per-play", input.serves_per_play, 0, 1000, "1"));
  BLOOMRING_TRY(check_range("--core-share", input.core_share, 0.05, 1, "0.6"));
  BLOOMRING_TRY(check_range("--machine-cores", input.machine.cores, 1, 4096, "16"));
  const double day_plays = plays_per_day(input);
  const double of_period = day_plays / input.users * period_seconds(input.settings.filter.period) / kDaySeconds;
  if (of_period < 1 || of_period > 1e6)
    return invalid("--plays-per-day: " + number(day_plays) + " plays of " + number(input.users) + " users are " +
                   number(of_period) + " plays of a user in a period (filter.period), and must be from 1 to 1000000. " +
                   "Give the plays of all users in one day, and the users who play in a period");
  return {};
}

}  // namespace bloomring
