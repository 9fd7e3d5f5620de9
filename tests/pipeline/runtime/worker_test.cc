#include "pipeline/runtime/worker.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>

#include "tests/support/manual_clock.h"

using namespace bloomring;

namespace {

class Idle final : public Task {
 public:
  Result<bool> step(int64_t) override { return false; }
};

// A poller that is within its poll until the test lets it out.
class Waiting final : public Poller {
 public:
  explicit Waiting(Status end = {}) : end_(std::move(end)) {}
  Result<bool> poll() override {
    ++polls;
    if (polls == 1) {
      entered.set_value();
      release.get_future().wait();
      BLOOMRING_TRY(Status(end_));
    }
    return true;
  }
  std::atomic<int> polls = 0;
  std::promise<void> entered, release;

 private:
  const Status end_;
};

struct Rig {
  ManualClock clock{1'795'000'000'000};
  std::promise<Status> failure;
  Worker worker{"worker", clock, [this](const Status& status) { failure.set_value(status); }};

  void drive(Poller& poller) {
    worker.call([&] { worker.drive(poller, "the group"); });
  }
  void stop_driving(Poller& poller) {
    worker.call([&] { worker.stop_driving(poller); });
  }
};

}  // namespace

TEST_CASE("worker: messages run between two polls, and none during one") {
  Rig rig;
  Waiting poller;
  rig.drive(poller);
  poller.entered.get_future().wait();
  std::promise<int> seen;
  rig.worker.post([&] {
    seen.set_value(poller.polls);
    rig.worker.stop_driving(poller);
  });
  poller.release.set_value();
  CHECK(seen.get_future().get() == 1);
  rig.worker.call([] {});
  CHECK(poller.polls == 1);  // Nothing polls once it has been stopped.
}

TEST_CASE("worker: a poll that fails is reported and is the last one") {
  Rig rig;
  Waiting poller(fatal("the group is gone"));
  rig.drive(poller);
  poller.release.set_value();
  CHECK(rig.failure.get_future().get().message() == "the group is gone");
  rig.worker.call([] {});
  CHECK(poller.polls == 1);
  rig.stop_driving(poller);  // Also of one that is driven no more.
}

TEST_CASE("worker: once a poller has been stopped, its thread takes tasks") {
  Rig rig;
  Waiting poller;
  rig.drive(poller);
  poller.entered.get_future().wait();
  poller.release.set_value();
  rig.stop_driving(poller);
  Idle idle;
  rig.worker.call([&] {
    rig.worker.add(idle, "idle");
    rig.worker.remove(idle);
  });
}
