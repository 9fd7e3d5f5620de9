// A figure with its uncertainty: low <= mid <= high, none of them negative.
// Threading: values.
#pragma once

#include <algorithm>

namespace bloomring {

struct PlanRange {
  double low = 0;
  double mid = 0;
  double high = 0;

  static constexpr PlanRange exactly(double value) { return {value, value, value}; }
  bool exact() const { return low == high; }
  bool operator==(const PlanRange&) const = default;
};

// The ends go with each other: the plan takes constants as errors of the same machine, which do not cancel out.
constexpr PlanRange operator+(const PlanRange& a, const PlanRange& b) {
  return {a.low + b.low, a.mid + b.mid, a.high + b.high};
}
constexpr PlanRange operator*(const PlanRange& a, const PlanRange& b) {
  return {a.low * b.low, a.mid * b.mid, a.high * b.high};
}
constexpr PlanRange operator*(const PlanRange& a, double b) { return {a.low * b, a.mid * b, a.high * b}; }
// By a range that has no 0.
constexpr PlanRange operator/(const PlanRange& a, const PlanRange& b) {
  return {a.low / b.high, a.mid / b.mid, a.high / b.low};
}
constexpr PlanRange operator/(const PlanRange& a, double b) { return {a.low / b, a.mid / b, a.high / b}; }

// A function of the figure that never falls.
template <typename F>
PlanRange each(const PlanRange& range, F&& f) {
  return {f(range.low), f(range.mid), f(range.high)};
}

}  // namespace bloomring
