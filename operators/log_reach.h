// How far a reader of a partition is behind its log, as a duration of a steady clock.
//
// The owner asks the brokers for the log's end again and again. Once everything below such an end is applied, the
// reader has at least every record from before the question. Without answers, that moment falls further into the past,
// so the time grows while a broker hangs; no two machines' clocks are compared. Each end counts, not only the newest: a
// reader that is always two seconds behind reaches only the older ones.
// Threading: a value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "base/ids.h"

namespace bloomring {

class LogReach {
 public:
  // `begin_ns`: when reading begins. Until an end is reached, the reader is behind by the time since then.
  explicit LogReach(int64_t begin_ns = 0) : reached_ns_(begin_ns) {}

  // The log's end was `end` at some moment after `asked_at_ns`.
  void update_end(Offset end, int64_t asked_at_ns) {
    if (ends_.size() == kEndsMax) ends_.pop_back();
    ends_.push_back({end, asked_at_ns});
    pass_ends();
  }
  // Everything below `next` is applied.
  void reach(Offset next) {
    next_ = std::max(next_, next);
    pass_ends();
  }
  int64_t behind_ns(int64_t now_ns) const { return std::max<int64_t>(0, now_ns - reached_ns_); }

 private:
  struct End {
    Offset end;
    int64_t asked_at_ns;
  };
  static constexpr size_t kEndsMax = 16;  // When full, a new end replaces the last one.

  void pass_ends() {
    for (; !ends_.empty() && next_ >= ends_.front().end; ends_.pop_front())
      reached_ns_ = std::max(reached_ns_, ends_.front().asked_at_ns);
  }

  int64_t reached_ns_;
  Offset next_{-1};
  std::deque<End> ends_;
};

}  // namespace bloomring
