// Series of partitions in a scrape: one for each partition, or one for all of them when metrics.per_partition is off.
// The latter has the value `all` in the label `partition`.
// Threading: a value of one scrape.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "base/ids.h"
#include "base/metrics/metrics.h"

namespace bloomring {

namespace metric {

// The value of the label `partition` where metrics.per_partition is off: one series for all partitions.
inline constexpr std::string_view kAllPartitions = "all";

}  // namespace metric

// How the values of many partitions become one.
enum class Fold : uint8_t { kSum, kMax, kMin };

class PartitionSeries {
 public:
  PartitionSeries(Scrape& scrape, bool each) : scrape_(scrape), each_(each) {}
  // Writes the folded series.
  ~PartitionSeries() {
    for (const auto& [at, value] : folded_) put(*std::get<0>(at), std::get<1>(at), std::get<2>(at), value);
  }
  PartitionSeries(const PartitionSeries&) = delete;
  PartitionSeries& operator=(const PartitionSeries&) = delete;

  bool each() const { return each_; }
  Scrape& scrape() const { return scrape_; }
  // A metric with the label `partition` alone.
  void write(const MetricDecl& decl, PartitionId partition, double value, Fold fold) {
    write(decl, {}, {}, partition, value, fold);
  }
  // A metric with the labels `stage`, `topic`, `partition`.
  void write(const MetricDecl& decl, const std::string& stage, const std::string& topic, PartitionId partition,
             double value, Fold fold) {
    if (each_) return put(decl, stage, topic, value, std::to_string(partition.value));
    const auto [at, first] = folded_.try_emplace({&decl, stage, topic}, value);
    if (!first) at->second = folded(fold, at->second, value);
  }

 private:
  static double folded(Fold fold, double left, double right) {
    if (fold == Fold::kSum) return left + right;
    return fold == Fold::kMax ? std::max(left, right) : std::min(left, right);
  }
  void put(const MetricDecl& decl, const std::string& stage, const std::string& topic, double value,
           std::string_view partition = metric::kAllPartitions) {
    if (stage.empty()) return scrape_.write(decl, {partition}, value);
    scrape_.write(decl, {stage, topic, partition}, value);
  }

  Scrape& scrape_;
  const bool each_;
  std::map<std::tuple<const MetricDecl*, std::string, std::string>, double> folded_;
};

}  // namespace bloomring
