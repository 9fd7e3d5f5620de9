#include "pipeline/tasks/replica_task.h"

#include <catch2/catch.hpp>

#include "tests/support/manual_clock.h"
#include "tests/support/memory_filter_store.h"

namespace bloomring {
namespace {

constexpr int64_t kStartMs = 1'793'404'800'000;

// A quiet partition, or one whose connection hangs: from inside they look the same.
class SilentSource final : public Source {
 public:
  Result<std::optional<LogRecord>> poll() override { return std::optional<LogRecord>(); }
  Offset position() const override { return Offset(0); }
  bool at_end() const override { return true; }
  bool lost_position() const override { return false; }
  Offset log_start() const override { return Offset(0); }
  Offset log_end() const override { return Offset(0); }
  void commit(Offset) override {}
  void go_back(Offset) override {}
};

// Gives one block at the second look, whose log time another machine's clock has written, and is silent then.
class OneBlock final : public Source {
 public:
  explicit OneBlock(int64_t log_time_ms) : log_time_ms_(log_time_ms) {
    const UserKey user("", "u1");
    EventBlockBuilder builder;
    builder.add(user.bytes(), {EventKind::kPlay, item_hash("v1"), kStartMs});
    block_ = builder.finish(PartitionId(0), 1);
  }
  Result<std::optional<LogRecord>> poll() override {
    if (++polls_ != 2) return std::optional<LogRecord>();
    return std::optional<LogRecord>({.offset = Offset(0), .log_time_ms = log_time_ms_, .key = {}, .value = block_});
  }
  Offset position() const override { return Offset(polls_ > 1 ? 1 : 0); }
  bool at_end() const override { return polls_ > 1; }
  bool lost_position() const override { return false; }
  Offset log_start() const override { return Offset(0); }
  Offset log_end() const override { return Offset(1); }
  void commit(Offset) override {}
  void go_back(Offset) override {}

 private:
  const int64_t log_time_ms_;
  std::string block_;
  int polls_ = 0;
};

struct QuietReplica {
  ManualClock clock{kStartMs};
  Calendar calendar = *Calendar::create({});
  MemoryFilterStore filters{filter::Policy{}, calendar, clock, 1};
  std::shared_ptr<ReplicaPartition> held =
      std::make_shared<ReplicaPartition>(PartitionId(0), RecentPlaysConfig{3'600'000, 1 << 20}, calendar, Offset(0));
  Offset start{0};
  std::unique_ptr<Source> source = std::make_unique<SilentSource>();
  ReplicaTask task{{}, clock, held, filters, std::move(source), start, start};

  void update_log_end(Offset end, int64_t asked_at_ms) { task.update_log_end(end, asked_at_ms * 1'000'000); }
  int64_t lag_ms_after(int64_t ms) {
    clock.advance_ms(ms);
    REQUIRE(task.step(clock.now_ms()).ok());
    return held->lag_ms(clock.steady_ns());
  }
};

}  // namespace

// The delay of the one block that was written `age_ms` before it is applied, by its log time. At the start the log's
// time was `log_ahead_ms` ahead of this machine's, and nothing was in the log. Where `end_heard_ms` is not negative,
// brokers told of the block so long before it was applied.
double delay_of_block(int64_t age_ms, int64_t log_ahead_ms, int64_t end_heard_ms = -1, int64_t wrong_by_ms = 0) {
  constexpr int64_t kAppliedMs = 20'000;
  QuietReplica replica{.source = std::make_unique<OneBlock>(kStartMs + log_ahead_ms + kAppliedMs - age_ms)};
  replica.clock.set_wrong_by_ms(wrong_by_ms);
  replica.held->log_time().saw(kStartMs + log_ahead_ms, replica.clock.steady_ns());
  replica.update_log_end(Offset(0), kStartMs);
  replica.lag_ms_after(0);  // Ready, and fresh at the start.
  const int64_t before_ms = end_heard_ms < 0 ? kAppliedMs : kAppliedMs - end_heard_ms;
  replica.clock.advance_ms(before_ms);
  if (end_heard_ms >= 0) replica.update_log_end(Offset(1), kStartMs + before_ms);
  replica.lag_ms_after(kAppliedMs - before_ms);
  const auto delays = replica.task.take_delays();
  REQUIRE(delays.size() == 1);
  CHECK(delays.front().events == 1);
  CHECK(replica.task.take_delays().empty());
  return delays.front().seconds;
}

TEST_CASE("replica: the delay of events is that since they were logged, whatever this machine's clock says") {
  for (const int64_t log_ahead_ms : {0L, 3'600'000L, -3'600'000L}) {
    for (const int64_t wrong_by_ms : {0L, 240'000L, -90L * 86'400'000})
      CHECK(delay_of_block(200, log_ahead_ms, -1, wrong_by_ms) == Approx(0.2));
  }
}

TEST_CASE("replica: a delay is at most since the log was asked for its end, and at least since it told of the record") {
  CHECK(delay_of_block(3'600'000, 0) == Approx(20));     // A log time that went back an hour.
  CHECK(delay_of_block(200, 0, 5'000) == Approx(5));      // Was there five seconds ago already.
  CHECK(delay_of_block(7'000, 0, 5'000) == Approx(7));
}

TEST_CASE("replica: a quiet partition is fresh as of the last time that the brokers told its end") {
  QuietReplica replica;
  replica.update_log_end(Offset(0), kStartMs);
  CHECK(replica.lag_ms_after(0) == 0);
  replica.update_log_end(Offset(0), kStartMs + 900);
  CHECK(replica.lag_ms_after(1'000) == 100);
}

TEST_CASE("replica: without word from the brokers a partition grows old, however quiet its connection is") {
  QuietReplica replica;
  replica.update_log_end(Offset(0), kStartMs);
  CHECK(replica.lag_ms_after(30'000) == 30'000);
}

// Of a broker that stood still, goes on, and takes itself for the leader. What comes meanwhile is with its successor.
TEST_CASE("replica: an end below what was heard or read before tells nothing, and the partition grows old") {
  QuietReplica replica{.start = Offset(10)};
  replica.update_log_end(Offset(10), kStartMs);
  CHECK(replica.lag_ms_after(1'000) == 1'000);
  replica.update_log_end(Offset(7), kStartMs + 1'000);
  CHECK(replica.lag_ms_after(1'000) == 2'000);
  replica.update_log_end(Offset(10), kStartMs + 2'000);
  CHECK(replica.lag_ms_after(0) == 0);
}

TEST_CASE("replica: it is not fresh before it has applied what the brokers told of") {
  QuietReplica replica;
  replica.update_log_end(Offset(1), kStartMs);
  CHECK(replica.lag_ms_after(0) > 30'000);
}

// The topic is gone, was cut or made again.
class FailingSource final : public Source {
 public:
  Result<std::optional<LogRecord>> poll() override { return fatal("the topic was cut or made again"); }
  Offset position() const override { return Offset(0); }
  bool at_end() const override { return false; }
  bool lost_position() const override { return true; }
  Offset log_start() const override { return Offset(0); }
  Offset log_end() const override { return Offset(0); }
  void commit(Offset) override {}
  void go_back(Offset) override {}
};

TEST_CASE("replica: a source that fails ends its task and no other: the partition is not ready any more") {
  QuietReplica replica{.source = std::make_unique<FailingSource>()};
  replica.held->set_ready();
  CHECK(replica.task.step(kStartMs).ok());
  CHECK_FALSE(replica.held->ready());
  CHECK(replica.task.ended().message() == "the topic was cut or made again");
  const Result<bool> again = replica.task.step(kStartMs);
  REQUIRE(again.ok());
  CHECK_FALSE(*again);
}

TEST_CASE("replica: a watermark beyond the log's end ends the task when brokers say for 30 s that it is") {
  QuietReplica replica;
  replica.update_log_end(Offset(0), kStartMs);
  CHECK(replica.lag_ms_after(0) == 0);
  MergedWatermark watermark;
  watermark.offset = Offset(400);
  REQUIRE(replica.filters.advance(PartitionId(0), watermark).ok());
  for (int64_t second = 1; second <= 30; ++second) {
    replica.lag_ms_after(1'000);
    CHECK(replica.task.ended().ok());
    CHECK(replica.held->merged() == Offset(0));
    replica.update_log_end(Offset(0), replica.clock.now_ms());
  }
  replica.lag_ms_after(1'000);
  replica.update_log_end(Offset(0), replica.clock.now_ms());
  CHECK_FALSE(replica.held->ready());
  CHECK_THAT(replica.task.ended().message(), Catch::Contains("ends at 0") && Catch::Contains("store new-log"));
}

TEST_CASE("replica: when the filter store went back its partition is not ready any more, nor ready at a start") {
  QuietReplica replica;
  MergedWatermark watermark;
  watermark.offset = Offset(5);
  SECTION("while it runs") {
    REQUIRE(replica.task.step(0).ok());
    replica.task.know(watermark);
    REQUIRE(replica.held->ready());
    replica.clock.advance_ms(1'000);
  }
  SECTION("at its first step") { replica.task.know(watermark); }
  CHECK(replica.task.step(0).code() == Code::kFatal);
  CHECK_FALSE(replica.held->ready());
}

TEST_CASE("replica: a watermark that is only ahead of the end that was heard last is waited for") {
  QuietReplica replica;
  replica.update_log_end(Offset(0), kStartMs);
  MergedWatermark watermark;
  watermark.offset = Offset(400);
  REQUIRE(replica.filters.advance(PartitionId(0), watermark).ok());
  replica.lag_ms_after(1'000);
  CHECK(replica.held->merged() == Offset(0));
  replica.lag_ms_after(60'000);  // No broker tells anything.
  CHECK(replica.task.ended().ok());
  replica.update_log_end(Offset(400), replica.clock.now_ms());
  replica.lag_ms_after(1'000);
  CHECK(replica.held->merged() == Offset(400));
  CHECK(replica.task.ended().ok());
}

// It is two seconds behind all the time, so the end that was heard last is never reached.
TEST_CASE("replica: one that is always a little behind is as fresh as the last end that it has reached") {
  QuietReplica replica{.source = std::make_unique<OneBlock>(kStartMs)};
  for (int64_t second = 0; second < 100; ++second)
    replica.update_log_end(Offset(1 + second), kStartMs + second * 1'000);
  CHECK(replica.lag_ms_after(1'000) > 30'000);
  CHECK(replica.lag_ms_after(0) == 1'000);
}

// Log times are of the brokers' clocks, the rest is of the replica's: the difference of two clocks is no age.
TEST_CASE("replica: no clock that is wrong makes a partition fresher or older than the brokers' word does") {
  for (const int64_t ahead_ms : {240'000L, 0L, -240'000L, 90L * 86'400'000}) {
    QuietReplica replica{.source = std::make_unique<OneBlock>(kStartMs + ahead_ms)};
    replica.update_log_end(Offset(0), kStartMs);
    CAPTURE(ahead_ms);
    CHECK(replica.lag_ms_after(1'000) == 1'000);
    CHECK(replica.lag_ms_after(1'000) == 2'000);
    CHECK(replica.lag_ms_after(28'000) == 30'000);
  }
}

}  // namespace bloomring
