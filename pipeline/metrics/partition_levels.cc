#include "pipeline/metrics/partition_levels.h"

#include <algorithm>
#include <utility>

#include "pipeline/metrics/partition_series.h"
#include "pipeline/metrics/pipeline_metrics.h"

namespace bloomring {

PartitionLevels::PartitionLevels(Metrics& metrics, const Clock& clock, Config config)
    : config_(std::move(config)),
      clock_(clock),
      registration_(metrics.on_scrape([this](Scrape& scrape) { write(scrape); })) {
  if (config_.watch != nullptr) config_.watch->add(*this);
}

PartitionLevels::~PartitionLevels() {
  if (config_.watch != nullptr) config_.watch->remove(*this);
}

void PartitionLevels::set(const std::string& topic, PartitionId partition, PartitionLevel level) {
  const std::lock_guard lock(mutex_);
  Tracked& tracked = levels_.try_emplace({topic, partition}, Tracked{{}, LogReach(clock_.steady_ns())}).first->second;
  if (std::exchange(tracked.lost, false)) tracked.reach = LogReach(clock_.steady_ns());
  tracked.level = level;
  tracked.reach.reach(level.applied);
}

void PartitionLevels::remove(const std::string& topic, PartitionId partition, bool lost) {
  const std::lock_guard lock(mutex_);
  const auto found = levels_.find({topic, partition});
  if (found == levels_.end()) return;
  found->second.lost = lost;
  if (!lost) levels_.erase(found);
}

void PartitionLevels::remove_all(bool lost) {
  const std::lock_guard lock(mutex_);
  for (auto& entry : levels_) entry.second.lost = lost;
  if (!lost) levels_.clear();
}

std::vector<kafka::TopicPartition> PartitionLevels::wanted() const {
  const std::lock_guard lock(mutex_);
  std::vector<kafka::TopicPartition> all;
  for (const auto& [at, tracked] : levels_) all.push_back(at);
  return all;
}

void PartitionLevels::update_log_end(const kafka::TopicPartition& at, Offset end, int64_t asked_at_ns) {
  const std::lock_guard lock(mutex_);
  const auto found = levels_.find(at);
  if (found == levels_.end()) return;
  if (found->second.lost) {
    levels_.erase(found);
    return;
  }
  found->second.reach.update_end(end, asked_at_ns);
  found->second.level.log_end = std::max(found->second.level.log_end, end);
}

std::vector<PartitionStatus> PartitionLevels::status() const {
  const std::lock_guard lock(mutex_);
  std::vector<PartitionStatus> all;
  for (const auto& [at, tracked] : levels_)
    all.push_back({at, tracked.level, static_cast<double>(tracked.reach.behind_ns(clock_.steady_ns())) / 1e9});
  return all;
}

void PartitionLevels::write(Scrape& scrape) const {
  const std::lock_guard lock(mutex_);
  PartitionSeries series(scrape, config_.per_partition);
  for (const auto& entry : levels_) {
    const kafka::TopicPartition& at = entry.first;
    const Tracked& tracked = entry.second;
    const PartitionLevel& level = tracked.level;
    const auto show = [&](const MetricDecl& decl, bool known, int64_t value) {
      if (known) series.write(decl, config_.stage, at.topic, at.partition, static_cast<double>(value), Fold::kSum);
    };
    const bool applied = level.applied.value >= 0;
    const bool committed = level.committed.value >= 0;
    const bool ended = level.log_end.value >= 0;
    show(metric::kAppliedOffset, applied, level.applied.value);
    show(metric::kCommittedOffset, committed, level.committed.value);
    show(metric::kProcessingLag, applied && ended, std::max<int64_t>(0, level.log_end.value - level.applied.value));
    show(metric::kCustodyLag, committed && ended, std::max<int64_t>(0, level.log_end.value - level.committed.value));
    series.write(metric::kBehind, config_.stage, at.topic, at.partition,
                 static_cast<double>(tracked.reach.behind_ns(clock_.steady_ns())) / 1e9, Fold::kMax);
  }
}

}  // namespace bloomring
