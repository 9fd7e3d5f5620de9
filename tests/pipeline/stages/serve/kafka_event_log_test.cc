#include "pipeline/stages/serve/kafka_event_log.h"

#include <atomic>
#include <catch2/catch.hpp>

#include "base/hash.h"
#include "pipeline/kafka/consumer/assigned_consumer.h"
#include "schemas/event_block.h"
#include "tests/pipeline/kafka/kafka_world.h"
#include "tests/support/manual_clock.h"

namespace bloomring {
namespace {

using kafka::testing::broker_with;
using kafka::testing::eventually;
using kafka::testing::must;

constexpr int64_t kTimeMs = 1'795'248'000'000;
// Later than the events: a forget that knows no log time has an event time of 2000.
const ManualClock kClock(kTimeMs + 5'000);
const UserKey kUser("feed", "u1");
const PartitionId kUsersPartition = partition_of(shard_of(kUser.bytes()), 2);

// Counts what it hears.
struct Heard {
  std::atomic<int> ok{0}, retry{0}, others{0};
  std::atomic<int64_t> offset{-1}, log_time_ms{0};  // Of the last one.
  EventLog::Durable told() {
    return [this](const Result<Appended>& appended) {
      if (appended.ok()) {
        offset = appended->offset.value;
        log_time_ms = appended->log_time_ms;
      }
      ++(appended.ok() ? ok : appended.code() == Code::kRetry ? retry : others);
    };
  }
};

Event serve(const std::string& item) { return {EventKind::kServe, item_hash(item), kTimeMs}; }

}  // namespace

TEST_CASE("event log: what is durable stands in the partition of its user, in order") {
  const auto broker = broker_with({{"user-events", 2}});
  const KafkaEventLogConfig config{.topic = "user-events", .partition_count = 2};
  const auto log = must(KafkaEventLog::create(config, broker->settings(), kClock));
  Heard heard;
  const std::vector<Event> events = {serve("v1"), serve("v2")};
  log->append(kUser, events, heard.told());
  REQUIRE(eventually([&] { return heard.ok == 1; }));
  CHECK(log->in_flight() == 0);

  const SystemClock system;
  const auto consumer = must(kafka::AssignedConsumer::create(broker->settings(), 1, system));
  const std::vector<kafka::AssignedConsumer::Start> starts = {{{"user-events", kUsersPartition}, Offset(0)}};
  const auto sources = must(consumer->assign(starts));
  std::optional<LogRecord> record;
  REQUIRE(eventually([&] { return (record = must(sources[0]->poll())).has_value(); }));
  CHECK(heard.offset == record->offset.value);
  CHECK(heard.log_time_ms == kClock.now_ms());  // The embedded broker stamps none.
  auto block = must(EventBlockReader::open(record->value, kUsersPartition, 2));
  REQUIRE(block.next_user());
  CHECK(block.user_key() == kUser.bytes());
  for (const Event& event : events) {
    REQUIRE(block.next_event());
    CHECK(block.event().kind == EventKind::kServe);
    CHECK(block.event().item == event.item);
    CHECK(block.event().time_ms == kTimeMs);
  }
  CHECK_FALSE(block.next_event());
}

TEST_CASE("event log: while the brokers are away a bounded number waits, more is refused, and what waits gets there") {
  const auto broker = broker_with({{"user-events", 2}});
  const KafkaEventLogConfig config{.topic = "user-events", .partition_count = 2, .in_flight_max = 6};
  const auto log = must(KafkaEventLog::create(config, broker->settings(), kClock));
  broker->set_down(true);
  Heard heard;
  const std::vector<Event> events = {serve("v1")};
  for (int i = 0; i < 5; ++i) log->append(kUser, events, heard.told());
  CHECK(heard.retry == 2);
  CHECK(heard.ok == 0);
  CHECK(log->in_flight() == 3);
  broker->set_down(false);
  must(log->flush(60'000));
  CHECK(heard.ok == 3);
}

TEST_CASE("event log: what waits for a partition without a leader keeps nothing from the others") {
  const auto broker = broker_with({{"user-events", 2}});
  Heard waiting, heard;  // Outlive the log, which tells them at its end, also when a check before it has failed.
  const KafkaEventLogConfig config{.topic = "user-events", .partition_count = 2, .in_flight_max = 6};
  const auto log = must(KafkaEventLog::create(config, broker->settings(), kClock));
  UserKey other = kUser;
  for (int i = 0; partition_of(shard_of(other.bytes()), 2) == kUsersPartition; ++i)
    other = UserKey("feed", "other" + std::to_string(i));
  broker->move_leader("user-events", kUsersPartition.value, -1);
  const std::vector<Event> events = {serve("v1")};
  for (int i = 0; i < 10; ++i) log->append(kUser, events, waiting.told());
  CHECK(waiting.retry > 0);
  log->append(other, events, heard.told());
  CHECK(eventually([&] { return heard.ok == 1; }));
  broker->move_leader("user-events", kUsersPartition.value, 1);
  must(log->flush(60'000));
}

TEST_CASE("event log: what is under way when it is destroyed is kRetry, once") {
  const auto broker = broker_with({{"user-events", 2}});
  auto log = must(KafkaEventLog::create({.topic = "user-events", .partition_count = 2}, broker->settings(), kClock));
  broker->set_down(true);
  Heard heard;
  const std::vector<Event> events = {serve("v1")};
  log->append(kUser, events, heard.told());
  log.reset();
  CHECK(heard.retry == 1);
  CHECK(heard.ok + heard.others == 0);
}

TEST_CASE("event log: a topic with another number of partitions is refused at the start") {
  const auto broker = broker_with({{"user-events", 2}});
  const auto log = KafkaEventLog::create({.topic = "user-events", .partition_count = 4}, broker->settings(), kClock);
  REQUIRE(log.code() == Code::kInvalid);
  CHECK_THAT(log.status().message(), Catch::Contains("has 2 partitions"));
}

}  // namespace bloomring
