// A partition's log with offsets that no record has, as transactions and compaction leave them, for tests that drive a
// task by hand. Committed by one reader at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/io/io.h"

namespace bloomring::testing {

struct GapLog {
  struct Record {
    std::string value;
    int64_t log_time_ms;
    RecordHeaders headers = {};
  };
  std::vector<std::optional<Record>> offsets = {};  // By offset: its record, or nothing.
  int64_t log_start = 0;
  int64_t committed = -1;

  void add(std::string value, int64_t log_time_ms) { offsets.push_back(Record{std::move(value), log_time_ms}); }
  void add_gap(size_t count = 1) { offsets.resize(offsets.size() + count); }
  int64_t end() const { return static_cast<int64_t>(offsets.size()); }
};

// As a broker tells it: the end is known when it was asked for, behind the last record.
class GapSource final : public Source {
 public:
  GapSource(GapLog& log, Offset start) : log_(log), next_(start.value) {}
  Result<std::optional<LogRecord>> poll() override {
    for (int64_t at = next_; at < log_.end(); ++at) {
      const auto& record = log_.offsets[static_cast<size_t>(at)];
      if (!record) continue;
      next_ = at + 1;
      headers_ = record->headers;
      return std::optional(LogRecord{Offset(at), record->log_time_ms, {}, record->value});
    }
    next_ = log_.end();
    return std::optional<LogRecord>();
  }
  RecordHeaders headers() const override { return headers_; }
  Offset position() const override { return Offset(next_); }
  bool at_end() const override { return next_ == log_.end(); }
  bool lost_position() const override { return false; }
  Offset log_start() const override { return Offset(log_.log_start); }
  Offset log_end() const override { return Offset(log_.end()); }
  void commit(Offset next) override { log_.committed = next.value; }
  void go_back(Offset offset) override { next_ = offset.value; }

 private:
  GapLog& log_;
  int64_t next_;
  RecordHeaders headers_;
};

}  // namespace bloomring::testing
