#include "serving/admission/call_timer.h"

#include <catch2/catch.hpp>
#include <future>

using namespace bloomring;

TEST_CASE("call timer: an alarm rings when its time is over, and not before") {
  CallTimer& timer = grpc_call_timer();
  const auto alarm = timer.make_alarm();
  const int64_t begin_us = timer.now_us();
  std::promise<int64_t> rang_us;
  alarm->set(20, [&] { rang_us.set_value(timer.now_us()); });
  CHECK(rang_us.get_future().get() >= begin_us + 20'000);
}

TEST_CASE("call timer: an alarm that is cancelled rings soon, and may own itself until then") {
  auto alarm = std::shared_ptr<CallAlarm>(grpc_call_timer().make_alarm());  // Shared with its ring.
  std::promise<void> rang;
  alarm->set(600'000, [alarm, &rang] { rang.set_value(); });
  alarm->cancel();
  alarm.reset();
  rang.get_future().get();
}
