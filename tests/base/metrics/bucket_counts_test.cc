#include "base/metrics/bucket_counts.h"

#include <catch2/catch.hpp>

#include "base/metrics/metrics.h"

using namespace bloomring;

namespace {

constexpr double kEnds[] = {0.1, 0.2, 1};
constexpr MetricDecl kCalls{
    "bloomring_test_seconds", MetricType::kHistogram, "Test.", {{{"method", "A|B"}, {"code", ""}}}, kEnds};

BucketCounts counts(std::vector<uint64_t> of) { return {kEnds, std::move(of)}; }

}  // namespace

TEST_CASE("bucket counts: a percentile is that of the observations between two looks alone") {
  const BucketCounts before = counts({1'000, 0, 7, 3});
  CHECK(observed(before, counts({1'010, 0, 7, 3})) == 10u);
  CHECK(percentile(before, counts({1'010, 0, 7, 3}), 0.5) == Approx(0.05));
  CHECK(percentile(before, counts({1'010, 0, 7, 3}), 1) == Approx(0.1));
  CHECK(percentile(before, counts({1'000, 4, 7, 3}), 0.25) == Approx(0.125));
  CHECK(percentile(before, counts({1'009, 0, 8, 3}), 0.9) == Approx(0.1));
  CHECK(percentile(before, counts({1'009, 0, 8, 3}), 0.95) == Approx(0.6));
  // Above the last end nobody knows more.
  CHECK(percentile(before, counts({1'000, 0, 7, 4}), 0.5) == 1.0);
}

TEST_CASE("bucket counts: without an observation, or without two looks, there is no percentile") {
  const BucketCounts some = counts({1, 2, 3, 4});
  CHECK_FALSE(percentile(some, some, 0.5));
  CHECK(observed(some, some) == 0u);
  for (const BucketCounts& other : {BucketCounts(), BucketCounts{kEnds, {1, 2}}, counts({0, 9, 9, 9})}) {
    CHECK_FALSE(observed(some, other));
    CHECK_FALSE(percentile(some, other, 0.5));
  }
}

TEST_CASE("bucket counts: those of a histogram are summed over the children that are asked for, and make none") {
  Metrics metrics;
  CHECK(metrics.bucket_counts(kCalls, {"A", ""}).counts == std::vector<uint64_t>{0, 0, 0, 0});
  CHECK(metrics.text().find("bloomring_test_seconds") == std::string::npos);
  metrics.histogram(kCalls, {"A", "OK"}).observe(0.1);
  metrics.histogram(kCalls, {"A", "UNKNOWN"}).observe(5);
  metrics.histogram(kCalls, {"B", "OK"}).observe(0.5, 3);
  CHECK(metrics.bucket_counts(kCalls, {"A", "OK"}).counts == std::vector<uint64_t>{1, 0, 0, 0});
  CHECK(metrics.bucket_counts(kCalls, {"A", ""}).counts == std::vector<uint64_t>{1, 0, 0, 1});
  CHECK(metrics.bucket_counts(kCalls, {"", ""}).counts == std::vector<uint64_t>{1, 0, 3, 1});
  CHECK(metrics.bucket_counts(kCalls, {"", ""}).total() == 5);
}
