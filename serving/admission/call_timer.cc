#include "serving/admission/call_timer.h"

#include <grpcpp/alarm.h>

#include <atomic>
#include <utility>

#include "base/result.h"

namespace bloomring {

namespace {

// gRPC orders a ring behind its `set`. ThreadSanitizer does not see that, for gRPC is built without it: so `set_` says
// it. gRPC holds nothing of ours but a pointer, which alone is read without that.
class GrpcAlarm final : public CallAlarm {
 public:
  void set(int64_t wait_ms, std::function<void()> ring) override {
    const gpr_timespec end =
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(wait_ms, GPR_TIMESPAN));
    ring_ = std::move(ring);
    set_.store(true, std::memory_order_release);
    alarm_.Set(end, Ring{this});
  }
  void cancel() override { alarm_.Cancel(); }

 private:
  struct Ring {
    GrpcAlarm* alarm;
    __attribute__((no_sanitize("thread"))) void operator()(bool) const { alarm->ring(); }
  };
  void ring() {
    BLOOMRING_CHECK(set_.load(std::memory_order_acquire), "an alarm rings after it was set");
    const std::function<void()> ring = std::move(ring_);  // It may own this alarm, which then ends with it.
    ring();
  }

  std::function<void()> ring_;
  std::atomic<bool> set_{false};
  grpc::Alarm alarm_;
};

class GrpcTimer final : public CallTimer {
 public:
  int64_t now_us() const override {
    const gpr_timespec now = gpr_now(GPR_CLOCK_MONOTONIC);
    return now.tv_sec * 1'000'000 + now.tv_nsec / 1'000;
  }
  std::unique_ptr<CallAlarm> make_alarm() override { return std::make_unique<GrpcAlarm>(); }
};

}  // namespace

CallTimer& grpc_call_timer() {
  static GrpcTimer timer;
  return timer;
}

}  // namespace bloomring
