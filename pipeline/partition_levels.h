// The levels of a stage's partitions (offsets and lags) as the last report had them, written out at each scrape.
// Thread safe: reports come from the workers, scrapes from the admin port.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "base/ids.h"
#include "base/metric_names.h"
#include "base/metrics.h"

namespace bloomring {

struct PartitionLevel {
  Offset applied{-1};  // -1: not known; nothing is shown then.
  Offset committed{-1};
  Offset log_end{-1};
};

class PartitionLevels {
 public:
  PartitionLevels(Metrics& metrics, std::string stage)
      : stage_(std::move(stage)), registration_(metrics.on_scrape([this](Scrape& scrape) { write(scrape); })) {}

  void set(const std::string& topic, PartitionId partition, PartitionLevel level) {
    const std::lock_guard lock(mutex_);
    levels_[{topic, partition}] = level;
  }
  void forget(const std::string& topic, PartitionId partition) {
    const std::lock_guard lock(mutex_);
    levels_.erase({topic, partition});
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    levels_.clear();
  }

 private:
  void write(Scrape& scrape) {
    const std::lock_guard lock(mutex_);
    for (const auto& [at, level] : levels_) {
      const std::string& topic = at.first;
      const std::string partition = std::to_string(at.second.value);
      const auto show = [&](const MetricDecl& decl, bool known, int64_t value) {
        if (known) scrape.write(decl, {stage_, topic, partition}, static_cast<double>(value));
      };
      const bool applied = level.applied.value >= 0;
      const bool committed = level.committed.value >= 0;
      const bool ended = level.log_end.value >= 0;
      show(metric::kAppliedOffset, applied, level.applied.value);
      show(metric::kCommittedOffset, committed, level.committed.value);
      show(metric::kProcessingLag, applied && ended, level.log_end.value - level.applied.value);
      show(metric::kCustodyLag, committed && ended, level.log_end.value - level.committed.value);
    }
  }

  const std::string stage_;
  std::mutex mutex_;
  std::map<std::pair<std::string, PartitionId>, PartitionLevel> levels_;
  Metrics::Registration registration_;  // Last: its callback uses the rest.
};

}  // namespace bloomring
