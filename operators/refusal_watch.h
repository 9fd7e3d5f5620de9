// Notices that ingest refuses records: what to warn of, how often, and whether too many are refused to be chance.
//
//   note ... note -> take_warning (once a minute at most, at once for the first)
//                 -> share, degraded (of the last minute)
//
// The minute slides in tenths. A handful of records says nothing of a share: below kRecordsMin none is too large.
// Threading: one thread. Times are steady milliseconds and do not go back.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "schemas/json/play_json.h"

namespace bloomring {

// A refused record: where it lies, and why it is refused.
struct RefusedRecord {
  std::string topic;
  PartitionId partition;
  Offset offset;
  Refusal reason = Refusal::kNone;
  std::string detail;
};
// "video-plays[3] at offset 17: missing_field: events.user 'uid': field missing"
std::string to_string(const RefusedRecord& record);

class RefusalWatch {
 public:
  static constexpr int64_t kWindowMs = 60'000;
  static constexpr int64_t kWarnIntervalMs = 60'000;
  static constexpr uint64_t kRecordsMin = 20;

  // `share_max`: of the records of a minute, those that may be refused.
  explicit RefusalWatch(double share_max) : share_max_(share_max) {}

  // So many records were read since the last call, and so many of them refused; `first` is the first of these, set
  // where there are any.
  void note(int64_t now_ms, uint64_t read, uint64_t refused, const RefusedRecord& first);

  struct Warning {
    RefusedRecord first;
    uint64_t refused = 0;  // Since the last warning.
    uint64_t read = 0;
  };
  // What is to be said now, if anything.
  std::optional<Warning> take_warning(int64_t now_ms);

  // Of the records of the last minute; 0 without any.
  double share(int64_t now_ms) const;
  bool degraded(int64_t now_ms) const;
  // The first of those that were refused last; to be asked while degraded.
  const RefusedRecord& last() const { return last_; }

 private:
  static constexpr int64_t kTenths = 10;
  struct Counts {
    int64_t tenth = -1;  // Which of all time.
    uint64_t read = 0;
    uint64_t refused = 0;
  };
  Counts in_window(int64_t now_ms) const;

  const double share_max_;
  std::array<Counts, kTenths> window_{};
  std::optional<Warning> unsaid_;
  uint64_t read_unsaid_ = 0;
  std::optional<int64_t> warned_at_ms_;
  RefusedRecord last_;
};

}  // namespace bloomring
