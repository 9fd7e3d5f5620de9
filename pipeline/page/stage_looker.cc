#include "pipeline/page/stage_looker.h"

#include <utility>

namespace bloomring {

void StageLooker::look(const std::function<std::vector<StageStatus>()>& ask) {
  std::vector<StageReport> reports;
  const int64_t now_ns = clock_.steady_ns();
  for (StageStatus& status : ask()) {
    const std::optional<double> records_per_second = rate(status, now_ns);
    reports.push_back({std::move(status), records_per_second});
  }
  const int64_t now_ms = clock_.now_ms();
  const std::lock_guard lock(mutex_);
  stages_.swap(reports);
  looked_ms_ = now_ms;
}

std::optional<double> StageLooker::rate(const StageStatus& stage, int64_t now_ns) {
  History& history = histories_[stage.stage];
  int64_t records = history.looks.empty() ? 0 : history.looks.back().records;
  std::map<kafka::TopicPartition, Offset> now;
  for (const PartitionStatus& partition : stage.partitions) {
    const Offset applied = partition.level.applied;
    if (applied.value < 0) continue;
    const auto before = history.last.find(partition.at);
    if (before != history.last.end() && applied > before->second) records += applied.value - before->second.value;
    now.emplace_hint(now.end(), partition.at, applied);
  }
  history.last = std::move(now);
  history.looks.push_back({now_ns, records});
  while (history.looks.size() > 2 && history.looks[1].at_ns <= now_ns - kRateOverMs * 1'000'000)
    history.looks.pop_front();
  const Applied& oldest = history.looks.front();
  if (now_ns <= oldest.at_ns) return std::nullopt;
  return static_cast<double>(records - oldest.records) * 1e9 / static_cast<double>(now_ns - oldest.at_ns);
}

std::map<std::string, int64_t> StageLooker::records() const {
  std::map<std::string, int64_t> records;
  for (const auto& [stage, history] : histories_) records.emplace(stage, history.looks.back().records);
  return records;
}

std::vector<StageReport> StageLooker::stages() const {
  const std::lock_guard lock(mutex_);
  return stages_;
}

std::optional<int64_t> StageLooker::looked_ms() const {
  const std::lock_guard lock(mutex_);
  return looked_ms_;
}

}  // namespace bloomring
