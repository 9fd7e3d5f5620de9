// The alarms of calls that wait. Calls go on where their alarms ring: on threads of gRPC, so none is held meanwhile.
//
// Guarantees: each alarm that is set rings once: when its time is over, or soon after it was cancelled. It rings
// neither within `set` nor within `cancel`.
// Threading: thread safe. An alarm that was set lives until it rings, and may end within its own ring.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace bloomring {

class CallAlarm {
 public:
  virtual ~CallAlarm() = default;
  virtual void set(int64_t wait_ms, std::function<void()> ring) = 0;  // Once.
  virtual void cancel() = 0;                                          // After `set` has returned.
};

class CallTimer {
 public:
  virtual ~CallTimer() = default;
  virtual int64_t now_us() const = 0;  // Monotonic.
  virtual std::unique_ptr<CallAlarm> make_alarm() = 0;
};

// gRPC's.
CallTimer& grpc_call_timer();

}  // namespace bloomring
