// The progress of a stage in reading the records that its partitions' logs held when it started.
//
// CatchUp is the arithmetic: offsets and counts in, the remainder out. A stage holds a CatchUpReport, which reports
// the remainder to the metrics, and to the log every few seconds. Events left are records left times the average
// events of a record so far. The rate is the average since the first partition began.
// Threading: CatchUp is a value; CatchUpReport is thread safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/ids.h"
#include "base/metrics/metrics.h"

namespace bloomring {

class CatchUp {
 public:
  struct Progress {
    size_t partitions = 0;  // That have not caught up.
    uint64_t records_left = 0;
    uint64_t events_left = 0;  // 0 while no record was read.
    double events_per_second = 0;
    double seconds_left = 0;  // 0 while it is unknown.
  };

  // The partition has caught up at `to`, the log's end when it started. A partition with nothing to read is not
  // counted.
  void begin(PartitionId partition, Offset from, Offset to, int64_t now_ns);
  // The partition is at `next`, and has read `events` since it began.
  void note(PartitionId partition, Offset next, uint64_t events);
  // The partition was given back or lost.
  void remove(PartitionId partition) { partitions_.erase(partition); }
  // Nothing when every partition has caught up.
  std::optional<Progress> progress(int64_t now_ns) const;
  // Events read and seconds taken since the first partition began.
  uint64_t events() const;
  double seconds(int64_t now_ns) const { return static_cast<double>(now_ns - began_ns_) / 1e9; }

 private:
  struct Partition {
    Offset from, next, to;
    uint64_t events = 0;
    bool there() const { return next >= to; }
  };
  std::map<PartitionId, Partition> partitions_;
  int64_t began_ns_ = 0;
};

class CatchUpReport {
 public:
  CatchUpReport(std::string stage, const Clock& clock, Metrics& metrics)
      : stage_(std::move(stage)), clock_(clock), metrics_(metrics) {}

  void begin(PartitionId partition, Offset from, Offset to);
  void note(PartitionId partition, Offset next, uint64_t events);
  void remove(PartitionId partition);
  // To be called a few times a second: writes metrics and log lines. Returns the sentence for health, "3 partitions,
  // 1200000 events, 12 s to go"; empty when nothing is left.
  std::string text();

 private:
  const std::string stage_;
  const Clock& clock_;
  Metrics& metrics_;
  std::mutex mutex_;
  CatchUp catch_up_;
  bool under_way_ = false;
  bool logged_ = false;
  int64_t log_due_ns_ = 0;
};

}  // namespace bloomring
