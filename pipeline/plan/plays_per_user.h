// The plays of a user in one period, as a distribution over whole numbers. The plan sums over it exactly.
//
// A filter's bytes are no multiple of its plays: light users have more bits an item, heavy users an index. So the mean
// of the bytes is not the bytes of the mean.
// Threading: immutable values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace bloomring {

// The shape, without its scale.
struct PlaysShape {
  struct Quantile {
    double percent;  // (0, 100]
    double plays;    // [1, 1e9]: this share of the users has at most so many.
  };
  double sigma = 0;                 // Of a log-normal distribution; 0: all users play equally much.
  std::vector<Quantile> quantiles;  // Not empty: these instead, ascending, the last of 100 percent.

  // "0.82", or "50=1200,90=6000,99=30000,100=200000". Between two quantiles, and from one play at 0 percent on, users
  // are spread evenly over the logarithm of plays. kInvalid with the part that is wrong.
  static Result<PlaysShape> parse(const std::string& text);
  std::string text() const;
  // The mean of the quantiles; 0 for a log-normal shape, which has none of its own.
  double mean() const;
};

class PlaysPerUser {
 public:
  // Of the shape, scaled so that the mean is `mean` > 0 plays in a period.
  PlaysPerUser(const PlaysShape& shape, double mean);

  // The sum over all users of f(plays), for each user: f(n) is called once for each number n that is likely enough to
  // matter, with at most 2^21 plays (filter::kItemsCap), at which heavier users count.
  template <typename F>
  double expect(F&& f) const {
    double sum = 0;
    for (size_t n = 0; n < share_.size(); ++n) {
      if (share_[n] > 0) sum += share_[n] * f(static_cast<uint64_t>(n));
    }
    return sum;
  }
  // The share of the users with each number of plays, from 0 on; their sum is 1.
  std::span<const double> shares() const { return share_; }

 private:
  std::vector<double> share_;
};

}  // namespace bloomring
