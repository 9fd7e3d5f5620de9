#include "load/latency_histogram.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace bloomring;

TEST_CASE("latency histogram: small values come back exactly, and nothing recorded is 0") {
  LatencyHistogram histogram;
  CHECK(histogram.quantile(0.5) == 0);
  CHECK(histogram.count() == 0);
  for (uint64_t value = 1; value <= 100; ++value) histogram.record(value);
  CHECK(histogram.quantile(0) == 1);
  CHECK(histogram.quantile(0.5) == 50);
  CHECK(histogram.quantile(0.99) == 99);
  CHECK(histogram.quantile(0.991) == 100);
  CHECK(histogram.quantile(1) == 100);
  CHECK(histogram.max() == 100);
}

TEST_CASE("latency histogram: every quantile is at most 1/128 above the exact one and never below") {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> latency(13, 2);  // Nanoseconds: 0.4 ms in the middle, seconds at the end.
  LatencyHistogram histogram;
  std::vector<uint64_t> exact;
  for (int i = 0; i < 100'000; ++i) {
    exact.push_back(static_cast<uint64_t>(latency(random)));
    histogram.record(exact.back());
  }
  std::sort(exact.begin(), exact.end());
  for (const double part : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
    const uint64_t expected = exact[static_cast<size_t>(std::ceil(part * static_cast<double>(exact.size()))) - 1];
    CAPTURE(part, expected);
    CHECK(histogram.quantile(part) >= expected);
    CHECK(histogram.quantile(part) <= expected + expected / 128 + 1);
  }
  CHECK(histogram.max() == exact.back());
}

TEST_CASE("latency histogram: the greatest value there is has a bucket") {
  LatencyHistogram histogram;
  constexpr uint64_t kGreatest = std::numeric_limits<uint64_t>::max();
  for (const uint64_t value :
       {kGreatest, kGreatest - 1, uint64_t{1} << 63, (uint64_t{1} << 63) - 1, uint64_t{127}, uint64_t{128}}) {
    histogram.record(value);
  }
  CHECK(histogram.count() == 6);
  CHECK(histogram.quantile(1) == kGreatest);
  CHECK(histogram.quantile(0.33) == 128);
}

TEST_CASE("latency histogram: two added together are one that saw both") {
  LatencyHistogram one, other, both;
  for (uint64_t value = 1; value < 10'000; value += 7) {
    (value % 2 == 0 ? one : other).record(value * value);
    both.record(value * value);
  }
  one.add(other);
  CHECK(one.count() == both.count());
  CHECK(one.max() == both.max());
  for (const double part : {0.0, 0.3, 0.77, 1.0}) CHECK(one.quantile(part) == both.quantile(part));
}
