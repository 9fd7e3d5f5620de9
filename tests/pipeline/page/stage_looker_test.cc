#include "pipeline/page/stage_looker.h"

#include <catch2/catch.hpp>
#include <condition_variable>
#include <thread>

#include "tests/pipeline/page/page_world.h"
#include "tests/support/manual_clock.h"

using namespace bloomring;
using namespace bloomring::test;

namespace {

StageStatus applied(std::vector<std::pair<int32_t, int64_t>> offsets) {
  StageStatus stage{.stage = "window"};
  for (const auto& [id, offset] : offsets) {
    stage.partitions.push_back(partition_of("user-events", id));
    stage.partitions.back().level.applied = Offset(offset);
  }
  return stage;
}

struct Looker {
  ManualClock clock{kNowMs};
  StageLooker looker{clock};

  std::optional<double> after(int64_t ms, const StageStatus& stage) {
    clock.advance_ms(ms);
    looker.look([&] { return std::vector{stage}; });
    return looker.stages().front().records_per_second;
  }
};

}  // namespace

TEST_CASE("page: before a look there is nothing, and before a second one no rate") {
  Looker looker;
  CHECK(looker.looker.stages().empty());
  CHECK_FALSE(looker.looker.looked_ms());
  CHECK_FALSE(looker.after(0, applied({{0, 100}})));
  CHECK(looker.looker.looked_ms() == kNowMs);
}

TEST_CASE("page: the rate counts the records that partitions applied while they were held") {
  Looker looker;
  looker.after(0, applied({{0, 100}, {1, 5'000}}));
  CHECK(looker.after(2'000, applied({{0, 120}, {1, 5'020}})) == 20.0);
  // A partition that comes counts from then on, and one that begins again at a lower offset counts nothing.
  CHECK(looker.after(2'000, applied({{0, 20}, {2, 900'000}})) == 10.0);
  CHECK(looker.after(4'000, applied({{0, 60}, {2, 900'080}})) == 20.0);
  // An applied offset that is not known is none.
  CHECK(looker.after(2'000, applied({{0, -1}})) == 16.0);
}

TEST_CASE("page: the rate forgets what is older than a minute") {
  Looker looker;
  int64_t offset = 0;
  looker.after(0, applied({{0, offset}}));
  looker.after(2'000, applied({{0, offset += 60'000}}));
  for (int i = 0; i < 29; ++i) CHECK(looker.after(2'000, applied({{0, offset}})) > 0.0);
  CHECK(looker.after(2'000, applied({{0, offset}})) == 0.0);
}

TEST_CASE("page: while a stage does not answer, the last answer is there at once") {
  Looker looker;
  looker.after(0, applied({{0, 100}}));
  std::mutex mutex;
  std::condition_variable changed;
  bool asked = false, end = false;
  std::thread hangs([&] {
    looker.looker.look([&] {
      std::unique_lock lock(mutex);
      asked = true;
      changed.notify_all();
      changed.wait(lock, [&] { return end; });
      return std::vector{applied({{0, 200}})};
    });
  });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return asked; });
  }
  CHECK(looker.looker.stages().front().status.partitions[0].level.applied == Offset(100));
  CHECK(looker.looker.looked_ms() == kNowMs);
  {
    const std::lock_guard lock(mutex);
    end = true;
  }
  changed.notify_all();
  hangs.join();
  CHECK(looker.looker.stages().front().status.partitions[0].level.applied == Offset(200));
}
