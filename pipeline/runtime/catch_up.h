// How far a stage is with reading back what its partitions had in the log when they started.
//
// CatchUp is the arithmetic: offsets and counts in, what is left out. CatchUpReport is what a stage holds: it tells the
// metrics, and the log every few seconds, while something is left.
// Events left are records left times the events a record has had so far; the rate is that since the first partition
// began. Threading: CatchUp is a value; CatchUpReport is thread safe.
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
    size_t partitions = 0;  // That are not there yet.
    uint64_t records_left = 0;
    uint64_t events_left = 0;  // 0 while no record was read.
    double events_per_second = 0;
    double seconds_left = 0;  // 0 while it cannot be told.
  };

  // The partition will have caught up at `to`, the log's end at its start. One that has nothing to read is not counted.
  void begin(PartitionId partition, Offset from, Offset to, int64_t now_ns);
  // It is at `next`, and has read `events` since it began.
  void note(PartitionId partition, Offset next, uint64_t events);
  // It is not ours any more.
  void forget(PartitionId partition) { partitions_.erase(partition); }
  // Nothing when every partition is there.
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
  void forget(PartitionId partition);
  // To be called a few times a second: writes metrics and log lines. The sentence for health: "3 partitions, 1200000
  // events, 12 s to go"; empty when there is nothing left.
  std::string tell();

 private:
  const std::string stage_;
  const Clock& clock_;
  Metrics& metrics_;
  std::mutex mutex_;
  CatchUp catch_up_;
  bool under_way_ = false;
  bool told_ = false;
  int64_t tell_due_ns_ = 0;
};

}  // namespace bloomring
