// How far a reader of a partition is behind its log, as a duration of a steady clock.
//
// Somebody asks the brokers again and again where the log ends. Once everything below such an end is applied, the
// reader has, at the least, all that was written before the asking; when nobody answers, that moment moves away. So the
// time grows with a broker that hangs, and no machine's clock is compared with another's. Each end counts, not the
// newest alone: a reader that is always two seconds behind reaches only those from before.
// Threading: a value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "base/ids.h"

namespace bloomring {

class LogReach {
 public:
  // From the moment at which reading begins; nothing is known of before.
  explicit LogReach(int64_t begin_ns = 0) : reached_ns_(begin_ns) {}

  // The log ended at `end` at some moment after `asked_at_ns`.
  void hear(Offset end, int64_t asked_at_ns) {
    if (ends_.size() == kEndsMax) ends_.pop_back();
    ends_.push_back({end, asked_at_ns});
    take();
  }
  // Everything below `next` is applied.
  void reach(Offset next) {
    next_ = std::max(next_, next);
    take();
  }
  int64_t behind_ns(int64_t now_ns) const { return std::max<int64_t>(0, now_ns - reached_ns_); }

 private:
  struct End {
    Offset end;
    int64_t asked_at_ns;
  };
  static constexpr size_t kEndsMax = 16;  // Of those that are not reached the last is replaced.

  void take() {
    for (; !ends_.empty() && next_ >= ends_.front().end; ends_.pop_front())
      reached_ns_ = std::max(reached_ns_, ends_.front().asked_at_ns);
  }

  int64_t reached_ns_;
  Offset next_{-1};
  std::deque<End> ends_;
};

}  // namespace bloomring
