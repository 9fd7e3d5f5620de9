#include "base/metrics/totals.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <optional>
#include <thread>

using namespace bloomring;

namespace {

constexpr MetricDecl kDone{"bloomring_test_done_total", MetricType::kCounter, "Test.", {{{"kind", "work|wait"}}}};

struct Counts {
  uint64_t work = 0;
  uint64_t wait = 0;
};

SeriesTable<Counts> table() { return {{&kDone, {"work"}, &Counts::work}, {&kDone, {"wait"}, &Counts::wait}}; }

struct Rig {
  Metrics metrics;
  Totals<Counts> totals{metrics, table()};
  double work() const { return metrics.value(kDone, {"work"}); }
  double wait() const { return metrics.value(kDone, {"wait"}); }
};

}  // namespace

TEST_CASE("totals: every series is shown as zero before anything has counted") {
  Rig rig;
  const std::string text = rig.metrics.text();
  CHECK(text.find("bloomring_test_done_total{kind=\"work\"} 0\n") != std::string::npos);
  CHECK(text.find("bloomring_test_done_total{kind=\"wait\"} 0\n") != std::string::npos);
  auto share = rig.totals.share();
  CHECK(rig.work() == 0);
}

TEST_CASE("totals: the newest counts of all live tasks are summed, each row by itself") {
  Rig rig;
  auto first = rig.totals.share();
  auto second = rig.totals.share();
  first.set({.work = 3, .wait = 1});
  second.set({.work = 10});
  CHECK(rig.work() == 13);
  CHECK(rig.wait() == 1);
  first.set({.work = 5, .wait = 1});
  CHECK(rig.work() == 15);
}

TEST_CASE("totals: a sum never falls when tasks end, come back at zero, or move") {
  Rig rig;
  std::optional<Totals<Counts>::Share> task = rig.totals.share();
  task->set({.work = 7, .wait = 2});
  task.reset();
  CHECK(rig.work() == 7);
  task = rig.totals.share();  // The partition comes back, with a new task.
  CHECK(rig.work() == 7);
  task->set({.work = 1});
  CHECK(rig.work() == 8);
  task = rig.totals.share();  // It is replaced without having ended before.
  CHECK(rig.work() == 8);
  task->set({.work = 4, .wait = 1});
  auto moved = std::move(*task);
  task.reset();
  moved.set({.work = 5, .wait = 1});
  CHECK(rig.work() == 13);
  CHECK(rig.wait() == 3);
}

TEST_CASE("totals: a share of nothing counts nothing") {
  Totals<Counts>::Share share;
  share.set({.work = 1});
  Rig rig;
  CHECK(rig.work() == 0);
}

TEST_CASE("totals: tasks count, end and begin while another thread scrapes, and no scrape sees less than the last") {
  Rig rig;
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> fell = 0;
  std::thread scraper([&] {
    for (double last = 0; !stop;) {
      const double now = rig.work();
      fell += now < last ? 1 : 0;
      last = now;
    }
  });
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 2; ++worker) {
    workers.emplace_back([&] {
      for (int task = 0; task < 50; ++task) {
        auto share = rig.totals.share();
        for (uint64_t work = 1; work <= 20; ++work) share.set({.work = work});
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  stop = true;
  scraper.join();
  CHECK(fell == 0);
  CHECK(rig.work() == 2 * 50 * 20);
}
