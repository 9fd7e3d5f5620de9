// The tokens of a job.
#include "pipeline/jobs/pace.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

constexpr int64_t kSecond = 1'000'000'000;

// Units taken in a second, a millisecond at a time.
uint64_t taken_in_a_second(Pace& pace, int64_t& now_ns, uint64_t piece = UINT64_MAX) {
  uint64_t taken = 0;
  for (int i = 0; i < 1000; ++i) {
    now_ns += kSecond / 1000;
    const uint64_t units = pace.allowed(now_ns);
    const uint64_t took = units == 0 ? 0 : (piece == UINT64_MAX ? units : piece);
    pace.spend(took);
    taken += took;
  }
  return taken;
}

}  // namespace

TEST_CASE("pace: a second has as many units as the rate says, whatever the rate") {
  for (const double rate : {3.0, 70.0, 5'000.0, 1'000'000.0}) {
    Pace pace(rate);
    int64_t now_ns = 0;
    CHECK(pace.allowed(now_ns) == 0);
    uint64_t taken = 0;
    for (int second = 0; second < 10; ++second) taken += taken_in_a_second(pace, now_ns);
    CHECK(static_cast<double>(taken) == Approx(10 * rate).margin(1 + rate / 1000));
  }
}

TEST_CASE("pace: tokens of a pause are those of a tenth of a second") {
  Pace pace(1'000);
  CHECK(pace.allowed(0) == 0);
  CHECK(pace.allowed(3'600 * kSecond) == 100);
  Pace slow(0.5);
  CHECK(slow.allowed(0) == 0);
  CHECK(slow.allowed(3'600 * kSecond) == 1);
}

TEST_CASE("pace: a piece of more units than there are is paid for before the next one") {
  Pace pace(1'000);
  int64_t now_ns = 0;
  CHECK(pace.allowed(now_ns) == 0);
  uint64_t taken = 0;
  for (int second = 0; second < 20; ++second) taken += taken_in_a_second(pace, now_ns, 4'000);
  CHECK(taken >= 16'000);
  CHECK(taken <= 24'000);
}

TEST_CASE("pace: a rate that changes holds at once, and a share of 0 stops") {
  Pace pace(1'000);
  int64_t now_ns = 0;
  taken_in_a_second(pace, now_ns);
  pace.set_rate(5'000);
  CHECK(taken_in_a_second(pace, now_ns) >= 4'990);
  pace.set_share(0.1);
  CHECK(taken_in_a_second(pace, now_ns) <= 510);
  pace.set_share(0);
  CHECK(taken_in_a_second(pace, now_ns) == 0);
}

TEST_CASE("pace: a steady clock that stands still gives nothing, and none that goes back takes any") {
  Pace pace(1'000);
  CHECK(pace.allowed(kSecond) == 0);
  CHECK(pace.allowed(kSecond + kSecond / 20) == 50);
  pace.spend(50);
  CHECK(pace.allowed(kSecond + kSecond / 20) == 0);
  CHECK(pace.allowed(kSecond) == 0);
}
