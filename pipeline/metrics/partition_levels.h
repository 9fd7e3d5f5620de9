// Writes at each scrape the levels of a stage's partitions (offsets and lags), as of the last report, and how far each
// is behind its log.
//
// The time behind grows without reports: it counts from the log end that was reached last. Log ends come from the
// brokers, through the log watch or the caller of `update_log_end`. A partition is shown from its assignment on, also
// before its first record.
// Threading: thread safe. Reports come from the workers, log ends from the asking threads, scrapes from the admin
// port.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/metrics/metrics.h"
#include "operators/log_reach.h"
#include "pipeline/metrics/log_watch.h"
#include "pipeline/status/stage_status.h"

namespace bloomring {

class PartitionLevels final : public LogWatch::Listener {
 public:
  struct Config {
    std::string stage;
    bool per_partition = true;   // metrics.per_partition
    LogWatch* watch = nullptr;   // Reports the ends of logs; null when the owner calls `update_log_end`.
  };
  // `metrics`, `clock` and the watch outlive it.
  PartitionLevels(Metrics& metrics, const Clock& clock, Config config);
  ~PartitionLevels() override;

  void set(const std::string& topic, PartitionId partition, PartitionLevel level);
  // The partition was given back: it is no longer shown. A `lost` one, which no broker could revoke from this member,
  // is shown, and falls behind, until brokers report the end of its log again or it is set again.
  void remove(const std::string& topic, PartitionId partition, bool lost);
  void remove_all(bool lost);

  std::vector<PartitionStatus> status() const;

  std::vector<kafka::TopicPartition> wanted() const override;
  void update_log_end(const kafka::TopicPartition& at, Offset end, int64_t asked_at_ns) override;

 private:
  struct Tracked {
    PartitionLevel level;
    LogReach reach;
    bool lost = false;
  };
  void write(Scrape& scrape) const;

  const Config config_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<kafka::TopicPartition, Tracked> levels_;
  Metrics::Registration registration_;  // Last: its callback uses the rest.
};

}  // namespace bloomring
