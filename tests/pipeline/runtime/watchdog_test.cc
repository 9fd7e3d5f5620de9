#include "pipeline/runtime/watchdog.h"

#include <catch2/catch.hpp>
#include <future>

#include "pipeline/runtime/runtime_metrics.h"
#include "pipeline/runtime/wait.h"
#include "tests/support/manual_clock.h"

using namespace bloomring;

namespace {

constexpr int64_t kStallMs = 60'000;
constexpr int64_t kBoundMs = 30'000;  // Of real time, for threads to come round.

// A task whose steps end when the test says so.
class Stuck final : public Task {
 public:
  Result<bool> step(int64_t) override {
    entered.set_value();
    release.get_future().wait();
    return false;
  }
  std::promise<void> entered, release;
};

// A task that has nothing to do.
class Idle final : public Task {
 public:
  Result<bool> step(int64_t) override { return false; }
};

struct Rig {
  SystemClock real;
  ManualClock clock{1'795'000'000'000};
  Health health;
  Metrics metrics;
  Watchdog watchdog{clock, kStallMs, health, metrics};
  Worker worker{"worker", clock, [](const Status&) {}, &watchdog};

  void add(Task& task, const std::string& name) {
    worker.call([&] { worker.add(task, name); });
  }
  void expect(const std::string& what, const std::function<bool()>& condition) {
    const Status met = wait_until(real, kBoundMs, what, [&]() -> Result<bool> { return condition(); });
    INFO(met.message());
    REQUIRE(met.ok());
  }
};

}  // namespace

TEST_CASE("watchdog: a task that makes no step makes the process unhealthy, is named and counted, until it goes on") {
  Rig rig;
  rig.health.set_ready("window");
  Stuck stuck;
  rig.add(stuck, "window user-events[3]");
  stuck.entered.get_future().wait();
  rig.clock.advance_ms(kStallMs / 2);
  CHECK(rig.watchdog.busy_with() == "window user-events[3] for 30 s");
  CHECK(rig.health.alive());

  rig.clock.advance_ms(kStallMs / 2);
  rig.expect("the stall to be seen", [&] { return !rig.health.alive(); });
  CHECK_THAT(rig.health.alive_json(), Catch::Contains("window user-events[3] has made no step for 60 s"));
  CHECK(rig.metrics.gauge(metric::kStalledTasks).value() == 1);

  rig.worker.post([&] { rig.worker.remove(stuck); });  // Runs when the step has ended.
  stuck.release.set_value();
  rig.expect("it to go on", [&] {
    rig.clock.advance_ms(1'000);
    return rig.health.alive();
  });
  rig.expect("the gauge to fall", [&] { return rig.metrics.gauge(metric::kStalledTasks).value() == 0; });
  CHECK(rig.health.ready());
}

TEST_CASE("watchdog: tasks that make steps and threads that wait are never meant, however long it goes on") {
  Rig rig;
  Idle idle;
  rig.add(idle, "merge user-batches[0]");
  for (int i = 0; i < 40; ++i) {
    rig.clock.advance_ms(kStallMs / 2);  // The current step of the thread sees one such jump at most.
    rig.worker.call([] {});              // The thread has come round.
    rig.worker.call([] {});
  }
  CHECK(rig.health.alive());
  rig.worker.call([&] { rig.worker.remove(idle); });
}
