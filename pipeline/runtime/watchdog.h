// Detects a stalled thread of ours: a task whose step, or a poller whose poll, does not return.
//
// A worker publishes what it is busy with (Worker::activity). An activity that takes longer than the bound makes
// /healthz fail, is logged and counted. When it ends, the process is healthy again. A task that is idle, or that
// retries because a store or a broker is away, returns from its steps and is no stall. librdkafka 2.0.2 does not do
// this for us: it takes any polled queue for a sign of life, so a group whose polling is stuck keeps its partitions
// for ever.
// Threading: thread safe; it checks on its own thread. All arguments outlive it.
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

class Watchdog final : public WorkerWatch {
 public:
  Watchdog(const Clock& clock, int64_t stall_ms, Health& health, Metrics& metrics);

  void watch(const Worker& worker) override;
  void remove(const Worker& worker) override;
  // "window user-events[3] for 12 s, a message to thread window-poll for 12 s": every activity of a second or more, or
  // "nothing".
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
  mutable std::mutex mutex_;  // Guards the list; a worker on it exists.
  std::vector<const Worker*> workers_;
  std::map<std::string, int64_t> stalled_;  // From the last check: what, and seconds. Of the thread.
  Worker thread_;                           // Last: it uses the rest.
};

}  // namespace bloomring
