// One part of a replay as a source: ends at the end of its range, gives no more than the budget of the step has, and
// keeps what the task commits as the position of the part.
//
// Threading: that of the task.
// Errors: those of the log.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "pipeline/io/io.h"
#include "pipeline/jobs/replay/replay_range.h"

namespace bloomring {

// Units that a step may take.
struct ReplayBudget {
  uint64_t left = 0;
  uint64_t taken = 0;  // In this step; more than `left` was by one record.

  void begin(uint64_t units) { *this = {units, 0}; }
  void take(uint64_t units) {
    taken += units;
    left -= std::min(left, units);
  }
};

class RangeSource final : public Source {
 public:
  // `part` and `budget` outlive the source. `units_per_record`: 0 where somebody else counts what a record holds.
  RangeSource(std::unique_ptr<Source> log, ReplayPart& part, ReplayBudget& budget, uint64_t units_per_record)
      : log_(std::move(log)), part_(part), budget_(budget), units_per_record_(units_per_record) {}

  Result<std::optional<LogRecord>> poll() override {
    if (budget_.left == 0 || ended()) return std::optional<LogRecord>();
    BLOOMRING_TRY_ASSIGN(const std::optional<LogRecord> record, log_->poll());
    if (!record || record->offset >= part_.until) return std::optional<LogRecord>();
    budget_.take(units_per_record_);
    return record;
  }
  RecordHeaders headers() const override { return log_->headers(); }
  // True when every record of the range was returned.
  bool ended() const { return log_->position() >= part_.until; }

  Offset position() const override { return std::min(log_->position(), part_.until); }
  bool at_end() const override { return ended() || log_->at_end(); }
  bool lost_position() const override { return log_->lost_position(); }
  Offset log_start() const override { return log_->log_start(); }
  Offset log_end() const override { return std::min(log_->log_end(), part_.until); }
  void commit(Offset next) override { part_.next = std::max(part_.next, next); }
  void go_back(Offset offset) override { log_->go_back(offset); }

 private:
  const std::unique_ptr<Source> log_;
  ReplayPart& part_;
  ReplayBudget& budget_;
  const uint64_t units_per_record_;
};

}  // namespace bloomring
