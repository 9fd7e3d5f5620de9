#include "pipeline/replica_task.h"

#include <catch2/catch.hpp>

#include "state/memory_filter_store.h"

namespace bloomring {
namespace {

constexpr int64_t kStartMs = 1'793'404'800'000;

// A quiet partition, or one whose connection hangs: from inside they look the same.
class SilentSource final : public Source {
 public:
  Result<std::optional<LogRecord>> poll() override { return std::optional<LogRecord>(); }
  bool at_end() const override { return true; }
  bool lost_position() const override { return false; }
  Offset log_start() const override { return Offset(0); }
  Offset log_end() const override { return Offset(0); }
  void commit(Offset) override {}
};

struct QuietReplica {
  ManualClock clock{kStartMs};
  Calendar calendar = *Calendar::create({});
  MemoryFilterStore filters{filter::Policy{}, calendar, clock, 1};
  std::shared_ptr<HeldPartition> held =
      std::make_shared<HeldPartition>(PartitionId(0), RecentPlaysConfig{3'600'000, 1 << 20}, calendar, Offset(0));
  Offset start{0};
  ReplicaTask task{{}, held, filters, std::make_unique<SilentSource>(), start, start};

  int64_t lag_ms_after(int64_t ms) {
    clock.advance_ms(ms);
    REQUIRE(task.step(clock.now_ms()).ok());
    return clock.now_ms() - held->fresh_at_ms();
  }
};

}  // namespace

TEST_CASE("replica: a quiet partition is fresh as of the last time that the brokers told its end") {
  QuietReplica replica;
  replica.task.hear_log_end(Offset(0), kStartMs);
  CHECK(replica.lag_ms_after(0) == 0);
  replica.task.hear_log_end(Offset(0), kStartMs + 900);
  CHECK(replica.lag_ms_after(1'000) == 100);
}

TEST_CASE("replica: without word from the brokers a partition grows old, however quiet its connection is") {
  QuietReplica replica;
  replica.task.hear_log_end(Offset(0), kStartMs);
  CHECK(replica.lag_ms_after(30'000) == 30'000);
}

// Of a broker that stood still, goes on, and takes itself for the leader. What comes meanwhile is with its successor.
TEST_CASE("replica: an end below what was heard or read before tells nothing, and the partition grows old") {
  QuietReplica replica{.start = Offset(10)};
  replica.task.hear_log_end(Offset(10), kStartMs);
  CHECK(replica.lag_ms_after(1'000) == 1'000);
  replica.task.hear_log_end(Offset(7), kStartMs + 1'000);
  CHECK(replica.lag_ms_after(1'000) == 2'000);
  replica.task.hear_log_end(Offset(10), kStartMs + 2'000);
  CHECK(replica.lag_ms_after(0) == 0);
}

TEST_CASE("replica: it is not fresh before it has applied what the brokers told of") {
  QuietReplica replica;
  replica.task.hear_log_end(Offset(1), kStartMs);
  CHECK(replica.lag_ms_after(0) > 30'000);
}

}  // namespace bloomring
