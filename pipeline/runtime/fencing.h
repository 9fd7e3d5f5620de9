// Whether a member of a consumer group that is told that another one has its instance id (it is fenced) joins again.
//
//   a rival       a second process of the same instance. Each time one of them has a place in the group, the other one
//                 takes it. The second loss of a place within kAgainMs tells a rival, and the earlier process ends.
//   no rival      the coordinator gave out a member id that its successor has never heard of, because it stood still;
//                 or it could not write the id down, because its replicas are away. Members that wait for a place are
//                 fenced then, again and again, until brokers are back.
//
// So only the loss of a place counts. Two processes that wait for a place fence each other until the rebalance ends;
// then one of them has it.
// Threading: a value used by one thread.
#pragma once

#include <cstdint>
#include <optional>

namespace bloomring {

class Fencing {
 public:
  static constexpr int64_t kAgainMs = 60'000;
  static constexpr int64_t kPauseMs = 1'000;  // Before a member that had no place joins again.

  // Times are nanoseconds of a steady clock. False: there is a rival.
  bool joins_again(bool had_place, int64_t now_ns) {
    join_at_ns_ = had_place ? now_ns : now_ns + kPauseMs * kNsPerMs;
    if (!had_place) return true;
    const bool again = lost_place_at_ns_ && now_ns - *lost_place_at_ns_ < kAgainMs * kNsPerMs;
    lost_place_at_ns_ = now_ns;
    return !again;
  }
  bool may_join(int64_t now_ns) const { return now_ns >= join_at_ns_; }

 private:
  static constexpr int64_t kNsPerMs = 1'000'000;
  std::optional<int64_t> lost_place_at_ns_;
  int64_t join_at_ns_ = INT64_MIN;
};

}  // namespace bloomring
