// What waits on its way to each partition of user-events, and which of these partitions ingest does without for now.
//
// A partition takes nothing where nobody leads it. Its blocks wait, at most `lane_max` of them in the producer's queue.
// When they keep ingest from reading and none of them was acknowledged for the patience, its lane is shut: nothing more
// is packed for it, and what waits for it keeps nothing from the others. It is opened when nothing waits for it any
// more. As long as no lane is known to take anything, none is shut: then the brokers are away, and reading on would
// only mean to read all of it again.
// Lane `partitions` is that of the dead letters, which is never shut and not bounded here.
// Threading: one thread. Times are steady milliseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bloomring {

class IngestLanes {
 public:
  IngestLanes(size_t partitions, size_t lane_max, int64_t patience_ms);

  size_t letters() const { return lanes_.size() - 1; }
  void queue(size_t lane, int64_t now_ms);
  void send(size_t lane);  // What was queued.
  void acknowledge(size_t lane, int64_t now_ms);
  void forget_queued();

  bool may_send(size_t lane) const { return lane == letters() || lanes_[lane].in_flight < lane_max_; }
  bool shut(size_t lane) const { return lanes_[lane].shut; }
  bool any_shut() const { return shut_count_ > 0; }
  // Of the lanes that are not shut.
  size_t queued() const { return queued_; }
  size_t in_flight() const { return in_flight_; }

  // To be called when ingest cannot read on: those that it shut.
  std::vector<size_t> shut_stalled(int64_t now_ms);
  std::vector<size_t> open_again();

 private:
  struct Lane {
    size_t queued = 0;
    size_t in_flight = 0;
    int64_t silent_since_ms = 0;  // Since when something waits and nothing was acknowledged.
    bool shut = false;
    bool waits() const { return queued + in_flight > 0; }
  };
  bool stalled(const Lane& lane, int64_t now_ms) const {
    return lane.waits() && now_ms - lane.silent_since_ms >= patience_ms_;
  }

  const size_t lane_max_;
  const int64_t patience_ms_;
  std::vector<Lane> lanes_;
  size_t shut_count_ = 0;
  size_t queued_ = 0;
  size_t in_flight_ = 0;
};

}  // namespace bloomring
