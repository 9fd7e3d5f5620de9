// Sees when a thread of ours stands still: a task whose step does not return.
//
// A worker says what it is busy with (Worker::activity). What takes longer than the bound makes /healthz fail, is named
// in the log and counted; when it goes on, the process is healthy again. A task that has nothing to do, or that tries
// again and again because a store or a broker is away, makes steps and is not meant.
// Why of our own: librdkafka 2.0.2 takes any polled queue for a sign of life, so a group whose polling is stuck keeps
// its partitions for ever.
// Threading: thread safe; looks on a thread of its own. Everything that is given outlives it.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics/metrics.h"
#include "pipeline/runtime/health.h"
#include "pipeline/runtime/worker.h"

namespace bloomring {

class Watchdog {
 public:
  Watchdog(const Clock& clock, int64_t stall_ms, Health& health, Metrics& metrics);

  void watch(const Worker& worker);
  void forget(const Worker& worker);
  // "window user-events[3] for 12 s, a message to thread window-poll for 12 s": what is under way for a second or more,
  // or "nothing".
  std::string busy_with() const;

 private:
  struct Stall {
    std::string what;
    int64_t seconds;
  };
  std::vector<Stall> under_way(int64_t at_least_ns) const;
  void look();

  const Clock& clock_;
  const int64_t stall_ns_;
  Health& health_;
  Metrics& metrics_;
  mutable std::mutex mutex_;  // Guards the list: a worker that is on it is alive.
  std::vector<const Worker*> workers_;
  std::map<std::string, int64_t> stalled_;  // Of the look before: what, and for how many seconds. Of the thread.
  Worker thread_;                           // Last: it uses the rest.
};

}  // namespace bloomring
