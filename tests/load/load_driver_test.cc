#include "load/load_driver.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "tests/support/manual_clock.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

// Always the same user, with ten candidates that were played between ten that never were asked about before.
class SameQuestion final : public LoadSource {
 public:
  void next(LoadQuestion& question) override {
    question.clear();
    question.user = "u1";
    for (int i = 0; i < 10; ++i) {
      question.add("new" + std::to_string(made) + "/" + std::to_string(i), false);
      question.add("v" + std::to_string(i), true);
    }
    ++made;
  }
  uint64_t made = 0;
};

void play_all(ServingWorld& world) {
  for (int i = 0; i < 10; ++i) world.play("u1", "v" + std::to_string(i));
}

// Time that passes only where the driver waits, and not before all that was sent has been answered: what the driver
// measures is then exact. (An answer is followed by a RecordServed, so the server knows when it has arrived.)
struct Waits {
  Waits(const Served& under_load, const SameQuestion& questions) : served(under_load), source(questions) {}

  const Served& served;
  const SameQuestion& source;
  ManualClock clock{kStartMs};
  bool settle = false;
  int64_t end_ms = -1;                                                // The run is stopped here; -1: never.
  std::function<int64_t(int64_t)> stall = [](int64_t) { return 0; };  // Milliseconds more, at this time of the run.

  LoadEnvironment environment() {
    return {.clock = clock,
            .wait_or_stop =
                [this](int64_t wait_ns) {
                  const uint64_t sent = source.made - 1;  // The last one is what is waited for.
                  while (settle && served.server->counters().requests < 2 * sent) std::this_thread::yield();
                  const int64_t wait_ms = (wait_ns + 999'999) / 1'000'000;
                  clock.advance_ms(wait_ms + stall(clock.now_ms() - kStartMs));
                  return end_ms >= 0 && clock.now_ms() - kStartMs >= end_ms;
                },
            .own_cpu_seconds = [] { return 1.0; },
            .service_cpu_seconds = [] { return std::nullopt; }};
  }
};

LoadOptions options_for(const Served& served) {
  return {.server = served.server->address(),
          .rate = 100,
          .seconds = 2,
          .warm_up_seconds = 0.5,
          .deadline_ms = 60'000,
          .served = 3};
}

}  // namespace

TEST_CASE("load: every call due is made and answered, and what was played is seen") {
  Served served;
  play_all(served.world);
  SameQuestion source;
  Waits waits(served, source);
  const LoadReport report = run_load(options_for(served), source, waits.environment());
  CHECK(report.seconds == Approx(2));
  CHECK(report.filter.ok() > 120);  // 200 on average.
  CHECK(report.filter.ok() < 280);
  CHECK(report.filter.errors.empty());
  CHECK(report.candidates == report.filter.ok() * 20);
  CHECK(report.played == report.filter.ok() * 10);
  CHECK(report.played_unseen == 0);
  CHECK(report.never_played == report.filter.ok() * 10);
  CHECK(report.incomplete == 0);
  CHECK(report.not_sent == 0);
  CHECK(report.own_cpu_seconds_per_call == 0.0);
  CHECK_FALSE(report.service_cpu_seconds_per_call.has_value());
}

TEST_CASE("load: the first unseen candidates are recorded as served, where the service offers it") {
  Served served;
  play_all(served.world);
  SameQuestion source;
  Waits waits(served, source);
  LoadOptions options = options_for(served);
  options.seconds = 0.001;  // With the warm-up about ten calls: fewer than a hundred items, so that none is forgotten.
  options.warm_up_seconds = 0.1;
  const LoadReport report = run_load(options, source, waits.environment());
  CHECK(report.served_offered);
  for (const char* item : {"new0/0", "new0/1", "new0/2"}) CHECK(served.world.seen("u1", item) == "served");
  CHECK(served.world.seen("u1", "new0/3") == "unseen");
  CHECK(served.world.seen("u1", "v1") == "recent");
  Served without({}, false);
  Waits others(without, source);
  const LoadReport other = run_load(options_for(without), source, others.environment());
  CHECK_FALSE(other.served_offered);
  CHECK(other.served.errors.empty());
  CHECK(other.filter.errors.empty());
}

TEST_CASE("load: a stall is in the latency of every call that was due in it") {
  Served served;
  SameQuestion source;
  Waits waits(served, source);
  waits.settle = true;
  bool stalled = false;
  waits.stall = [&](int64_t elapsed_ms) -> int64_t {
    return elapsed_ms > 1'500 && !std::exchange(stalled, true) ? 500 : 0;
  };
  const LoadReport report = run_load(options_for(served), source, waits.environment());
  // A quarter of the two seconds: calls due in it are 0 to 500 ms late, all others are sent when they are due, but for
  // what the clock of the test rounds up.
  CHECK(report.filter.latency_ns.quantile(0.65) < 20'000'000);
  CHECK(report.filter.latency_ns.quantile(0.97) > 250'000'000);
  CHECK(report.filter.latency_ns.max() < 520'000'000);
  CHECK(report.send_delay_max_ns >= 400'000'000);
}

TEST_CASE("load: incomplete answers, wrong answers and failed calls are told apart") {
  Served served;
  SameQuestion source;
  Waits waits(served, source);
  LoadOptions options = options_for(served);
  SECTION("nothing was played: what should be seen is not") {
    options.served = 0;  // Or else it would be seen soon, as served.
    const LoadReport report = run_load(options, source, waits.environment());
    CHECK(report.played_unseen == report.played);
    CHECK(report.played > 0);
  }
  SECTION("the store fails: nothing is claimed of these answers") {
    served.world.store.fail_reads(true);
    const LoadReport report = run_load(options, source, waits.environment());
    CHECK(report.incomplete == report.filter.ok());
    CHECK(report.played == 0);
    CHECK(report.played_unseen == 0);
  }
  SECTION("the partition is elsewhere: errors by their code") {
    served.partitions.held = nullptr;
    const LoadReport report = run_load(options, source, waits.environment());
    CHECK(report.filter.ok() == 0);
    REQUIRE(report.filter.errors.size() == 1);
    CHECK(report.filter.errors.begin()->first == "UNAVAILABLE");
  }
  SECTION("more in flight than allowed: not sent") {
    options.in_flight_max = 0;
    const LoadReport report = run_load(options, source, waits.environment());
    CHECK(report.filter.ok() == 0);
    CHECK(report.not_sent > 0);
  }
  SECTION("stopped early: the figures are of the time that passed") {
    waits.end_ms = 1'500;
    const LoadReport report = run_load(options, source, waits.environment());
    CHECK(report.seconds == Approx(1).margin(0.1));
  }
}
