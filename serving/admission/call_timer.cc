#include "serving/admission/call_timer.h"

#include <grpcpp/alarm.h>

#include <utility>

namespace bloomring {

namespace {

class GrpcAlarm final : public CallAlarm {
 public:
  void set(int64_t wait_ms, std::function<void()> ring) override {
    const gpr_timespec end =
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(wait_ms, GPR_TIMESPAN));
    // gRPC keeps its copy until the alarm's end, and the function may own the alarm: ringing releases that.
    alarm_.Set(end, [ring = std::move(ring)](bool) mutable { std::exchange(ring, nullptr)(); });
  }
  void cancel() override { alarm_.Cancel(); }

 private:
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
