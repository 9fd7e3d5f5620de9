// What a member of a consumer group may still take for granted: that its partitions are its own.
//
//   take (a partition was handed out) -> renew, renew, ... (by the group's thread) -> renewed too late: run out
//
// A process that stood still (SIGSTOP, a machine that swapped) keeps believing in partitions that the group has given
// to another one meanwhile. Its threads go on in any order, so each looks at the lease before it writes to what others
// share (pipeline/runtime/leased.h): it has run out by then. The thread that serves the group finds it run out, gives
// everything up as lost and joins anew (pipeline/stages/group_poller.h); only what it is given then is a new lease.
//
// The length is chosen so that the coordinator cannot have given the partitions away while the lease is held, as long
// as the thread that renews it runs and librdkafka has not said that the session is over (kafka::standstill_max_ms).
// Threading: one thread takes and renews; any asks.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace bloomring {

class Lease {
 public:
  // `clock` outlives the lease; its steady time counts. Not held before `take`.
  Lease(const Clock& clock, int64_t length_ms) : clock_(clock), length_ns_(length_ms * 1'000'000) {}

  // Held from now on, for its length.
  void take() { until_ns_ = clock_.steady_ns() + length_ns_; }
  // Held for its whole length again. False when it had run out: then it stays so until `take`.
  bool renew();
  bool held() const { return clock_.steady_ns() < until_ns_; }

 private:
  const Clock& clock_;
  const int64_t length_ns_;
  std::atomic<int64_t> until_ns_{INT64_MIN};  // Of the steady clock.
};

inline bool Lease::renew() {
  const int64_t now_ns = clock_.steady_ns();
  const bool held = now_ns < until_ns_;
  until_ns_ = held ? now_ns + length_ns_ : INT64_MIN;
  return held;
}

}  // namespace bloomring
