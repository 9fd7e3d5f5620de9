#include "pipeline/canary/canary.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/hash.h"
#include "pipeline/canary/canary_metrics.h"
#include "tests/support/manual_clock.h"

using namespace bloomring;

namespace {

constexpr int64_t kNowMs = 1'795'000'000'000;
constexpr int64_t kIntervalMs = 60'000;
constexpr int64_t kTimeoutMs = 30'000;

struct Played {
  std::string user;
  std::string item;
  int64_t time_ms;
};

// A way that takes every play, and shows it when the test says so.
class ByHand final : public CanaryPath {
 public:
  void play(const std::string& user, const std::string& item, int64_t time_ms,
            std::function<void(const Status&)> written) override {
    plays.push_back({user, item, time_ms});
    if (takes) return written(outcome);
    late = std::move(written);
  }
  Result<bool> is_recent(const std::string& user, const std::string& item) override {
    ++questions;
    CHECK(user == plays.back().user);
    CHECK(item == plays.back().item);
    return answer;
  }

  std::vector<Played> plays;
  bool takes = true;
  Status outcome;
  Result<bool> answer = false;
  int questions = 0;
  std::function<void(const Status&)> late;
};

struct Rig {
  explicit Rig(std::vector<PartitionId> partitions = {PartitionId(0)}, uint32_t count = 1)
      : canary({.name = "0",
                .scene = "feed",
                .partitions = std::move(partitions),
                .partition_count = count,
                .interval_ms = kIntervalMs,
                .timeout_ms = kTimeoutMs},
               path, clock, metrics) {}

  // Ticks for so long.
  void run(int64_t ms) {
    for (int64_t passed = 0; passed < ms; passed += Canary::kTickMs) {
      canary.step();
      clock.advance_ms(Canary::kTickMs);
    }
  }
  double plays(std::string_view result) const { return metrics.value(metric::kCanaryPlays, {result}); }
  uint64_t measured() { return metrics.histogram(metric::kCanarySeconds).count(); }

  ManualClock clock{kNowMs};
  Metrics metrics;
  ByHand path;
  Canary canary;
};

}  // namespace

TEST_CASE("canary: a play that is seen is measured from its sending to the answer") {
  Rig rig;
  rig.run(140);
  REQUIRE(rig.path.plays.size() == 1);
  CHECK(rig.path.plays[0].time_ms == kNowMs);
  CHECK(rig.measured() == 0);
  rig.path.answer = true;
  rig.run(20);
  CHECK(rig.measured() == 1);
  CHECK(rig.plays("seen") == 1);
  // At 140 or 150 ms: in the bucket up to 200, and in none below it.
  CHECK_THAT(rig.metrics.text(), Catch::Contains("bloomring_canary_round_trip_seconds_bucket{le=\"0.1\"} 0"));
  CHECK_THAT(rig.metrics.text(), Catch::Contains("bloomring_canary_round_trip_seconds_bucket{le=\"0.2\"} 1"));
  CHECK(rig.plays("unseen") + rig.plays("unwritten") == 0);
}

TEST_CASE("canary: plays begin an interval apart, and no item is played twice, also when the clock stands still") {
  Rig rig;
  rig.path.answer = true;
  rig.run(3 * kIntervalMs);
  REQUIRE(rig.path.plays.size() == 3);
  CHECK(rig.path.plays[1].time_ms == kNowMs + kIntervalMs);
  rig.clock.set_wrong_by_ms(-kIntervalMs);  // The wall clock shows the minute of the third play again.
  rig.run(kIntervalMs);
  REQUIRE(rig.path.plays.size() == 4);
  CHECK(rig.path.plays[3].time_ms == rig.path.plays[2].time_ms);
  std::set<std::string> items;
  for (const Played& play : rig.path.plays) items.insert(play.item);
  CHECK(items.size() == 4);
}

TEST_CASE("canary: a play that is not seen in time is counted, whatever the answers were, and the next one is sent") {
  Rig rig;
  SECTION("it answers that it is unseen") { rig.path.answer = false; }
  SECTION("it does not answer") { rig.path.answer = retry("no service"); }
  rig.run(kTimeoutMs);
  CHECK(rig.plays("unseen") == 0);
  rig.run(Canary::kTickMs);
  CHECK(rig.plays("unseen") == 1);
  CHECK(rig.measured() == 0);
  rig.path.answer = true;
  rig.run(kIntervalMs);
  CHECK(rig.path.plays.size() == 2);
  CHECK(rig.plays("seen") == 1);
}

TEST_CASE("canary: a play that the brokers do not take is not asked for, and counted as unwritten") {
  Rig rig;
  SECTION("they refuse it") { rig.path.outcome = fatal("the topic does not exist"); }
  SECTION("they do not answer") { rig.path.takes = false; }
  rig.run(kTimeoutMs + Canary::kTickMs);
  CHECK(rig.plays("unwritten") == 1);
  CHECK(rig.plays("unseen") == 0);
  CHECK(rig.path.questions == 0);
  // An acknowledgement that comes after all harms nobody.
  if (rig.path.late) rig.path.late(Status());
  rig.run(kIntervalMs);
  CHECK(rig.path.plays.size() == 2);
}

TEST_CASE("canary: questions become rarer while a play is not seen") {
  Rig rig;
  rig.run(1'000);
  const int first_second = rig.path.questions;
  CHECK(first_second > 20);
  rig.run(kTimeoutMs - 1'000);
  CHECK(rig.path.questions - first_second < 80);
}

TEST_CASE("canary: each partition has a user of its own, and plays go round them") {
  constexpr uint32_t kCount = 50;
  const std::vector<PartitionId> held = {PartitionId(3), PartitionId(17), PartitionId(41)};
  Rig rig(held, kCount);
  rig.path.answer = true;
  rig.run(4 * kIntervalMs);
  REQUIRE(rig.path.plays.size() == 4);
  for (size_t i = 0; i < rig.path.plays.size(); ++i) {
    const std::string& user = rig.path.plays[i].user;
    CHECK(user.starts_with(kCanaryPrefix));
    CHECK(rig.path.plays[i].item.starts_with(kCanaryPrefix));
    CHECK(partition_of(shard_of(UserKey("feed", user).bytes()), kCount) == held[i % held.size()]);
  }
  CHECK(rig.path.plays[3].user == rig.path.plays[0].user);
}

TEST_CASE("canary: canaries of two processes have no user in common, in an installation of any size") {
  std::vector<PartitionId> all;
  for (int32_t p = 0; p < static_cast<int32_t>(kShardCount); ++p) all.emplace_back(p);
  const auto users_of = [&](const char* name) {
    return canary_users({.name = name, .scene = "", .partitions = all, .partition_count = kShardCount});
  };
  const std::vector<std::string> first = users_of("0"), second = users_of("1");
  std::set<std::string> users(first.begin(), first.end());
  users.insert(second.begin(), second.end());
  CHECK(users.size() == 2 * kShardCount);
}
