#include "pipeline/plan/plays_per_user.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "filter/ladder.h"

namespace bloomring {

namespace {

constexpr double kSigmaMax = 3;
constexpr double kPlaysMax = 1e9;
constexpr double kTail = 1e-12;  // A share of users that is left out of sums: 0.00005 of 50 million.

constexpr const char* kForms =
    "; give the sigma of a log-normal distribution, as 0.82, or quantiles of plays a month, as "
    "50=1200,90=6000,99=30000,100=200000";

bool read(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

Status read_quantile(std::string_view text, PlaysShape::Quantile& quantile) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || !read(text.substr(0, equals), quantile.percent) ||
      !read(text.substr(equals + 1), quantile.plays))
    return invalid("'" + std::string(text) + "' is not PERCENT=PLAYS" + kForms);
  if (quantile.percent <= 0 || quantile.percent > 100)
    return invalid("'" + std::string(text) + "': percent must be above 0 and at most 100" + kForms);
  if (quantile.plays < 1 || quantile.plays > kPlaysMax)
    return invalid("'" + std::string(text) + "': plays must be from 1 to 1000000000" + kForms);
  return {};
}

Result<PlaysShape> read_quantiles(std::string_view text) {
  PlaysShape shape;
  for (size_t from = 0; from <= text.size();) {
    const size_t comma = std::min(text.find(',', from), text.size());
    PlaysShape::Quantile next{};
    BLOOMRING_TRY(read_quantile(text.substr(from, comma - from), next));
    if (!shape.quantiles.empty() &&
        (next.percent <= shape.quantiles.back().percent || next.plays < shape.quantiles.back().plays))
      return invalid("'" + std::string(text.substr(from, comma - from)) +
                     "' does not ascend: each quantile has a larger percent than the one before it, and as many plays" +
                     kForms);
    shape.quantiles.push_back(next);
    from = comma + 1;
  }
  if (shape.quantiles.back().percent < 100)
    return invalid("the last quantile must be that of 100 percent, the heaviest user" + std::string(kForms));
  return shape;
}

// The share of the users with at least so many plays: 1 at 0, falling.
class AtLeast {
 public:
  AtLeast(const PlaysShape& shape, double mean) : shape_(shape) {
    scale_ = shape.quantiles.empty() ? mean : mean / shape.mean();
    mu_ = std::log(mean) - shape.sigma * shape.sigma / 2;
  }
  double operator()(double plays) const {
    if (plays <= 0) return 1;
    if (!shape_.quantiles.empty()) return by_quantiles(plays / scale_);
    if (shape_.sigma == 0) return plays <= scale_ ? 1 : 0;
    return std::erfc((std::log(plays) - mu_) / (shape_.sigma * std::sqrt(2.0))) / 2;
  }

 private:
  double by_quantiles(double plays) const {
    double percent = 0, from = 1;
    for (const PlaysShape::Quantile& next : shape_.quantiles) {
      if (plays <= from) break;
      if (plays < next.plays) {
        percent += (next.percent - percent) * std::log(plays / from) / std::log(next.plays / from);
        break;
      }
      percent = next.percent;
      from = next.plays;
    }
    return 1 - percent / 100;
  }

  const PlaysShape& shape_;
  double scale_ = 1;
  double mu_ = 0;
};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

}  // namespace

Result<PlaysShape> PlaysShape::parse(const std::string& text) {
  PlaysShape shape;
  if (text.find('=') != std::string::npos) return read_quantiles(text);
  if (!read(text, shape.sigma)) return invalid("'" + text + "' is no number" + kForms);
  if (shape.sigma < 0 || shape.sigma > kSigmaMax) return invalid("'" + text + "': sigma must be from 0 to 3" + kForms);
  return shape;
}

std::string PlaysShape::text() const {
  if (quantiles.empty()) return number(sigma);
  std::string text;
  for (const Quantile& quantile : quantiles)
    text += (text.empty() ? "" : ",") + number(quantile.percent) + "=" + number(quantile.plays);
  return text;
}

// Evenly over the logarithm from a to b, the mean is (b - a) / log(b / a).
double PlaysShape::mean() const {
  double mean = 0, percent = 0, from = 1;
  for (const Quantile& next : quantiles) {
    const double of_part = next.plays > from ? (next.plays - from) / std::log(next.plays / from) : from;
    mean += (next.percent - percent) / 100 * of_part;
    percent = next.percent;
    from = next.plays;
  }
  return mean;
}

PlaysPerUser::PlaysPerUser(const PlaysShape& shape, double mean) {
  BLOOMRING_CHECK(mean > 0, "users who play nothing");
  const AtLeast at_least(shape, mean);
  double above = 1;
  for (uint64_t plays = 0; plays < filter::kItemsCap && above > kTail; ++plays) {
    const double more = at_least(static_cast<double>(plays) + 0.5);
    share_.push_back(above - more);
    above = more;
  }
  share_.push_back(above);
}

}  // namespace bloomring
