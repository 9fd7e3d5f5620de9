// Decides whether a fenced member of a consumer group joins again. Fenced: the coordinator reports that another member
// has its instance id.
//
//   a rival       a second process of the same instance. Whenever one of the two has a place in the group, the other
//                 takes it. The second loss of a place within kAgainMs shows a rival, and the earlier process ends.
//   no rival      the coordinator gave out a member id that its successor does not know, because it was stopped; or it
//                 could not store the id, because its replicas are away. Members that wait for a place are then fenced
//                 again and again, until brokers are back.
//
// So only the loss of a place counts. Two processes that wait for a place fence each other until the rebalance ends;
// then one of them has the place.
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
