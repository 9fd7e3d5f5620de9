#include "pipeline/page/trends.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace bloomring {

namespace {

constexpr int64_t kNsPerMs = 1'000'000;

// The figure of what was counted between two looks, which are `seconds` apart.
using Figure = std::function<std::optional<double>(const TrendSample& from, const TrendSample& to, double seconds)>;

struct Row {
  Trend trend;  // Without values.
  Figure figure;
};

Figure percentile_of(BucketCounts TrendSample::*counts, double share) {
  return [=](const TrendSample& from, const TrendSample& to, double) {
    return percentile(from.*counts, to.*counts, share);
  };
}

std::optional<double> calls_of(const TrendSample& from, const TrendSample& to, double seconds) {
  const auto calls = observed(from.calls, to.calls);
  return calls ? std::optional(static_cast<double>(*calls) / seconds) : std::nullopt;
}

Figure records_of(std::string stage) {
  return [stage = std::move(stage)](const TrendSample& from, const TrendSample& to,
                                    double seconds) -> std::optional<double> {
    const auto before = from.records.find(stage), after = to.records.find(stage);
    if (before == from.records.end() || after == to.records.end()) return std::nullopt;
    return static_cast<double>(after->second - before->second) / seconds;
  };
}

std::vector<Row> rows_of(const TrendSample& newest) {
  std::vector<Row> rows;
  for (const auto& [stage, records] : newest.records)
    rows.push_back({{"records_per_second", stage, "records a second of " + stage}, records_of(stage)});
  if (newest.calls.counts.empty()) return rows;
  const auto seconds = [&](const char* figure, const char* title, BucketCounts TrendSample::*counts, double share) {
    rows.push_back({{figure, "", title, true}, percentile_of(counts, share)});
  };
  seconds("freshness_p50_seconds", "write to seen, half of the events within", &TrendSample::freshness, 0.5);
  seconds("freshness_p99_seconds", "write to seen, 99 of 100 events within", &TrendSample::freshness, 0.99);
  rows.push_back({{"calls_per_second", "", "calls a second"}, calls_of});
  seconds("filter_p50_seconds", "answer to Filter, half of the calls within", &TrendSample::filters, 0.5);
  seconds("filter_p99_seconds", "answer to Filter, 99 of 100 calls within", &TrendSample::filters, 0.99);
  return rows;
}

// The least or the most of the points that are known.
template <typename Better>
std::optional<double> best(const std::vector<std::optional<double>>& points, Better better) {
  std::optional<double> found;
  for (const auto& point : points) {
    if (point && (!found || better(*point, *found))) found = point;
  }
  return found;
}

}  // namespace

std::optional<double> Trend::least() const { return best(points, std::less<>()); }
std::optional<double> Trend::most() const { return best(points, std::greater<>()); }

void Trends::take(int64_t now_ns, TrendSample sample) {
  const std::lock_guard lock(mutex_);
  newest_ = {now_ns, std::move(sample)};
  if (!steps_.empty() && now_ns - steps_.back().at_ns < kStepMs * kNsPerMs) return;
  steps_.push_back(newest_);
  if (steps_.size() > kSteps + 1) steps_.pop_front();
}

std::vector<Trend> Trends::report() const {
  const std::lock_guard lock(mutex_);
  std::vector<Trend> trends;
  const auto between = [](const Row& row, const Taken& from, const Taken& to) -> std::optional<double> {
    if (to.at_ns <= from.at_ns) return std::nullopt;
    return row.figure(from.sample, to.sample, static_cast<double>(to.at_ns - from.at_ns) / 1e9);
  };
  for (Row& row : rows_of(newest_.sample)) {
    for (size_t i = 1; i < steps_.size(); ++i) row.trend.points.push_back(between(row, steps_[i - 1], steps_[i]));
    // Since the newest step that is a minute old, or since the first that has the figure: a stage may start later.
    const auto old = [&](const Taken& taken) { return newest_.at_ns - taken.at_ns >= kLastMs * kNsPerMs; };
    auto from = std::find_if(steps_.rbegin(), steps_.rend(), old);
    if (from == steps_.rend()) --from;
    for (;; --from) {
      row.trend.last_minute = between(row, *from, newest_);
      if (row.trend.last_minute || from == steps_.rbegin()) break;
    }
    trends.push_back(std::move(row.trend));
  }
  return trends;
}

}  // namespace bloomring
