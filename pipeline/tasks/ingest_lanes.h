// Counts the blocks in flight to each partition of user-events (its lane), and shuts the lanes that stall.
//
// A partition without a leader takes no records, and its blocks wait: at most `lane_max` of them in the producer's
// queue, the others in the task. Lanes are in one of two states:
//   open  Its blocks count towards the limits that stop ingest from reading.
//   shut  Ingest packs nothing more for the partition, and the blocks that wait for it do not count.
// `shut_stalled` shuts each lane that has blocks and no acknowledgement for `patience_ms`. It shuts none when all open
// lanes are like that: then the brokers are away, and ingest would only read everything twice. `open_again` opens a
// shut lane when all its blocks were acknowledged.
//
// Dead letters use the lane `partitions`, which is never shut and which `lane_max` does not bound.
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
  void send(size_t lane);  // One that was queued.
  void acknowledge(size_t lane, int64_t now_ms);
  void drop_queued();

  bool may_send(size_t lane) const { return lane == letters() || lanes_[lane].in_flight < lane_max_; }
  bool shut(size_t lane) const { return lanes_[lane].shut; }
  bool any_shut() const { return shut_count_ > 0; }
  // Of the lanes that are not shut.
  size_t queued() const { return queued_; }
  size_t in_flight() const { return in_flight_; }

  // The caller calls it when the limits stop ingest from reading. Returns the lanes that it shut.
  std::vector<size_t> shut_stalled(int64_t now_ms);
  // Returns the lanes that it opened.
  std::vector<size_t> open_again();

 private:
  struct Lane {
    size_t queued = 0;
    size_t in_flight = 0;
    int64_t silent_since_ms = 0;  // When blocks began to wait, or one was acknowledged, whichever is later.
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
