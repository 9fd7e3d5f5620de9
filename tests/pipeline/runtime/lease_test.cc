#include "pipeline/runtime/lease.h"

#include <catch2/catch.hpp>

#include "pipeline/kafka/settings.h"
#include "tests/support/manual_clock.h"

using namespace bloomring;

namespace {

constexpr int64_t kLengthMs = 24'000;

}  // namespace

TEST_CASE("lease: held from the hand-out for its length, and as long as it is renewed in time") {
  ManualClock clock(1000);
  Lease lease(clock, kLengthMs);
  CHECK_FALSE(lease.held());
  CHECK_FALSE(lease.renew());
  lease.take();
  for (int i = 0; i < 5; ++i) {
    clock.advance_ms(kLengthMs - 1);
    CHECK(lease.held());
    CHECK(lease.renew());
  }
  clock.advance_ms(kLengthMs);
  CHECK_FALSE(lease.held());
}

TEST_CASE("lease: one that has run out is not renewed, only taken again") {
  ManualClock clock(1000);
  Lease lease(clock, kLengthMs);
  lease.take();
  clock.advance_ms(kLengthMs);
  CHECK_FALSE(lease.renew());
  CHECK_FALSE(lease.renew());
  CHECK_FALSE(lease.held());
  lease.take();
  CHECK(lease.held());
  CHECK(lease.renew());
}

TEST_CASE("lease: it is shorter than the session by the heartbeats that may have been due") {
  kafka::ClientSettings settings;
  CHECK(kafka::standstill_max_ms(settings) == 24'000);
  settings.properties = {{"session.timeout.ms", "6000"}, {"heartbeat.interval.ms", "500"}};
  CHECK(kafka::standstill_max_ms(settings) == 5'000);
  settings.properties = {{"session.timeout.ms", "6000"}};
  CHECK(kafka::standstill_max_ms(settings) == 2'000);
}
