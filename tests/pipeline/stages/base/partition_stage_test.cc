#include "pipeline/stages/base/partition_stage.h"

#include <catch2/catch.hpp>

#include "pipeline/kafka/consumer/group_metrics.h"
#include "tests/pipeline/stages/stage_world.h"

namespace bloomring {
namespace {

using kafka::testing::broker_with;
using kafka::testing::eventually;

// A stage whose tasks do nothing, and that needs more than one poll for its partitions when one has no leader.
class IdleStage final : public PartitionStage {
 public:
  explicit IdleStage(StageContext context)
      : PartitionStage(std::move(context), {"opens nothing", MemoryUse::kWindowQueue}, "in", 1) {}
  ~IdleStage() override { stop(StopMode::kRestart); }

  StageStatus status() const override { return {.stage = "window"}; }

  std::atomic<size_t> made{0};

 private:
  struct IdleTask final : PartitionTask {
    explicit IdleTask(std::unique_ptr<Source> from) : source(std::move(from)) {}
    Result<bool> step(int64_t) override { return false; }
    Status close() override { return {}; }
    std::unique_ptr<Source> source;
  };
  Result<PartitionWork> make(PartitionId, const kafka::PartitionFacts& facts, std::unique_ptr<Source> source) override {
    ++made;
    return PartitionWork{std::make_unique<IdleTask>(std::move(source)), facts.log_start};
  }
  void report(PartitionId, PartitionTask&) override {}
  void untrack(PartitionId, bool) override {}
};

}  // namespace

TEST_CASE("partition stage: is ready with its place in the group, also where its partitions begin later") {
  const size_t leaderless = GENERATE(0, 1, 2);
  const auto broker = broker_with({{"in", 2}});
  testing::StageWorld world(*broker);
  for (size_t partition = 0; partition < leaderless; ++partition)
    broker->move_leader("in", static_cast<int32_t>(partition), -1);
  IdleStage stage(world.context());
  kafka::testing::must(stage.start());
  world.start_wait.done();
  REQUIRE(eventually([&] { return stage.made == 2 - leaderless && world.health.ready(); }, 20));
  for (size_t partition = 0; partition < leaderless; ++partition)
    broker->move_leader("in", static_cast<int32_t>(partition), 1);
  REQUIRE(eventually([&] { return stage.made == 2; }));
  CHECK(eventually([&] { return world.health.ready(); }));
}

TEST_CASE("partition stage: what its member of the group has counted is shown from the start, and stays") {
  const auto broker = broker_with({{"in", 1}});
  testing::StageWorld world(*broker);
  IdleStage stage(world.context());
  const auto assignments = [&] { return world.metrics.value(metric::kRebalances, {"window", "assign"}); };
  CHECK_THAT(world.metrics.text(), Catch::Contains(R"(bloomring_commits_total{stage="window",result="failed"} 0)"));
  kafka::testing::must(stage.start());
  world.start_wait.done();
  REQUIRE(eventually([&] { return assignments() == 1; }, 20));
  stage.stop(StopMode::kLeaveGroup);
  CHECK(assignments() == 1);
}

}  // namespace bloomring
