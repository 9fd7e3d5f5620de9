// How long a member of a consumer group may assume that it still owns its partitions.
//
//   take (a partition was handed out) -> renew, renew, ... (by the group's thread) -> renewed too late: run out
//
// A process that was stopped (SIGSTOP, a machine that swapped) still assumes that it owns partitions that the group has
// given to another meanwhile. Its threads resume in any order, so each checks the lease, expired by then, before it
// writes to a shared topic or store (pipeline/runtime/leased.h). The thread that serves the group finds the lease
// expired, gives all partitions up as lost and joins again (pipeline/stages/base/group_poller.h). The next assignment
// takes a new lease.
//
// The length is chosen so that the coordinator cannot have given the partitions away while the lease is held, as long
// as the renewing thread runs and librdkafka has not reported the end of the session (kafka::standstill_max_ms).
// Threading: one thread takes and renews; any thread may check.
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
  // Held for its whole length again. False when it had expired: it stays expired until `take`.
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
