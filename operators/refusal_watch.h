// Watches the records that ingest refuses: decides when to warn, and whether too many are refused to be chance.
//
//   note ... note -> take_warning (once a minute at most, at once for the first)
//                 -> share, degraded (of the last minute)
//
// The minute slides in tenths. A few records do not give a meaningful share: below kRecordsMin no share is too large.
// Threading: one thread. Times are steady milliseconds and do not go back.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "schemas/refusal.h"

namespace bloomring {

// A refused record: its place in the log, and the reason.
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
  static constexpr int64_t kShareMs = 60'000;
  static constexpr int64_t kWarnIntervalMs = 60'000;
  static constexpr uint64_t kRecordsMin = 20;

  // `share_max`: the part of a minute's records that may be refused.
  explicit RefusalWatch(double share_max) : share_max_(share_max) {}

  // Since the last call `read` records were read and `refused` of them refused. `first` is the first refused one; set
  // when there is any.
  void note(int64_t now_ms, uint64_t read, uint64_t refused, const RefusedRecord& first);

  struct Warning {
    RefusedRecord first;
    uint64_t refused = 0;  // Since the last warning.
    uint64_t read = 0;
  };
  // The warning to give now, if any.
  std::optional<Warning> take_warning(int64_t now_ms);

  // The refused part of the records of the last minute; 0 without records.
  double share(int64_t now_ms) const;
  bool degraded(int64_t now_ms) const;
  // The first refused record of the last `note` with any; meaningful while degraded.
  const RefusedRecord& last() const { return last_; }

 private:
  static constexpr int64_t kTenths = 10;
  struct Counts {
    int64_t tenth = -1;  // Number of the tenth since steady time 0.
    uint64_t read = 0;
    uint64_t refused = 0;
  };
  Counts of_last_minute(int64_t now_ms) const;

  const double share_max_;
  std::array<Counts, kTenths> tenths_{};
  std::optional<Warning> pending_;
  uint64_t read_since_warning_ = 0;
  std::optional<int64_t> warned_at_ms_;
  RefusedRecord last_;
};

}  // namespace bloomring
