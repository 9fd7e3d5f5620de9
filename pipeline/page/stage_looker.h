// Asks the stages for their status now and then, and keeps the last answer with the rates since: the operations page
// shows that, and so it answers while a stage does not.
//
// Guarantees: `stages` waits for nothing but a copy. One that asks for ever, in `look`, keeps the last answer as it is.
// Threading: `look` and `records` belong to one thread; `stages` and `looked_ms` are thread safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "pipeline/kafka/partition.h"
#include "pipeline/page/ops_report.h"

namespace bloomring {

class StageLooker {
 public:
  static constexpr int64_t kIntervalMs = 2'000;  // Between two looks.
  static constexpr int64_t kRateOverMs = 60'000;

  // `clock` outlives it.
  explicit StageLooker(const Clock& clock) : clock_(clock) {}

  void look(const std::function<std::vector<StageStatus>()>& ask);

  std::vector<StageReport> stages() const;
  // Records that each stage has applied since the first look at it. Of the looking thread.
  std::map<std::string, int64_t> records() const;
  std::optional<int64_t> looked_ms() const;

 private:
  // Records applied since the first look, at a time. Partitions that come and go count from when they came.
  struct Applied {
    int64_t at_ns;
    int64_t records;
  };
  struct History {
    std::map<kafka::TopicPartition, Offset> last;
    std::deque<Applied> looks;  // Oldest first, of the last minute.
  };
  std::optional<double> rate(const StageStatus& stage, int64_t now_ns);

  const Clock& clock_;
  std::map<std::string, History> histories_;  // By stage; the looking thread's.
  mutable std::mutex mutex_;                  // Held for a copy only.
  std::vector<StageReport> stages_;
  std::optional<int64_t> looked_ms_;
};

}  // namespace bloomring
