#include "pipeline/kafka/consumer/group_consumer.h"

#include <catch2/catch.hpp>

#include "tests/pipeline/kafka/kafka_world.h"
#include "tests/support/manual_clock.h"

namespace bloomring::kafka::testing {
namespace {

ClientSettings in_group(const EmbeddedBroker& broker, const std::string& instance_id = "") {
  ClientSettings settings = broker.settings();
  settings.group = "g";
  settings.instance_id = instance_id;
  settings.commit_interval_ms = 50;
  return settings;
}

size_t records_read(const Member& member) {
  size_t records = 0;
  for (const auto& ownership : member.history) records += ownership.read.offsets.size();
  return records;
}

// Within one ownership: from its start on, one after the other.
void expect_no_gap(const Member& member) {
  for (const auto& [at, facts, start, read] : member.history) {
    const int64_t first = start == kLogStart ? facts.log_start.value : start.value;
    INFO(to_string(at));
    CHECK(read.offsets == numbers(static_cast<int64_t>(read.offsets.size()), first));
  }
}

}  // namespace

TEST_CASE("group consumer: reads every record of its partitions in order while they are written") {
  const auto broker = broker_with({{"in", 3}});
  const auto producer = must(Producer::create(broker->settings()));
  Member member(in_group(*broker), {"in"});
  int written = 0;
  REQUIRE(member.run_until([&] {
    if (written < 1000) {
      for (int32_t partition = 0; partition < 3; ++partition) write_numbers(*producer, "in", partition, written, 100);
      written += 100;
    }
    return records_read(member) >= 3000;
  }));
  CHECK(records_read(member) == 3000);
  expect_no_gap(member);
  CHECK(member.consumer->stats().assigned == 3);
  CHECK(member.consumer->stats().rebalances == 1);
}

TEST_CASE("group consumer: commits come back as facts for the next owner") {
  const auto broker = broker_with({{"in", 2}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 0, 0, 10);
  {
    Member first(in_group(*broker), {"in"});
    REQUIRE(first.run_until([&] { return records_read(first) == 10; }));
    CHECK_FALSE(first.history[0].facts.committed.has_value());
    first.held.at({"in", PartitionId(0)}).source->commit(Offset(4));
    REQUIRE(first.run_until([&] { return first.consumer->stats().commits > 0; }));
    first.commit_all_on_revoke = false;
  }
  Member second(in_group(*broker), {"in"});
  REQUIRE(second.run_until([&] { return records_read(second) == 6; }));
  CHECK(second.history[0].facts.committed == Offset(4));
  CHECK(second.history[0].facts.log_start == Offset(0));
  CHECK(second.history[0].facts.log_end == Offset(10));
  CHECK_FALSE(second.history[1].facts.committed.has_value());
  expect_no_gap(second);
}

TEST_CASE("group consumer: a member that stood still gives everything up as lost, and commits nothing") {
  const auto broker = broker_with({{"in", 1}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 0, 0, 10);
  {
    Member stalled(in_group(*broker), {"in"});
    REQUIRE(stalled.run_until([&] { return records_read(stalled) == 10; }));
    stalled.consumer->abandon();  // The listener asks for a commit at each revocation.
    CHECK(stalled.lost == 1);
    CHECK(stalled.held.empty());
  }
  Member next(in_group(*broker), {"in"});
  REQUIRE(next.run_until([&] { return records_read(next) == 10; }));
  CHECK_FALSE(next.history[0].facts.committed.has_value());
}

TEST_CASE("group consumer: commits made while it closes are kept") {
  const auto broker = broker_with({{"in", 1}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 0, 0, 10);
  Member first(in_group(*broker), {"in"});
  REQUIRE(first.run_until([&] { return records_read(first) == 10; }));
  first.consumer->close();
  CHECK(first.held.empty());
  CHECK(first.consumer->stats().commits == 1);
  Member second(in_group(*broker), {"in"});
  REQUIRE(second.run_until([&] { return !second.history.empty(); }));
  CHECK(second.history[0].facts.committed == Offset(10));
}

TEST_CASE("group consumer: two members share the partitions, without gap or duplicate within an ownership") {
  const auto broker = broker_with({{"in", 4}});
  const auto producer = must(Producer::create(broker->settings()));
  Member first(in_group(*broker, "a"), {"in"});
  REQUIRE(first.run_until([&] { return first.held.size() == 4; }));
  Member second(in_group(*broker, "b"), {"in"});
  int written = 0;
  REQUIRE(eventually([&] {
    for (int32_t partition = 0; partition < 4; ++partition) write_numbers(*producer, "in", partition, written, 10);
    written += 10;
    must(first.step());
    must(second.step());
    return first.held.size() == 2 && second.held.size() == 2 && written >= 100;
  }));
  REQUIRE(
      eventually([&] { return must(first.step()), must(second.step()), first.all_at_end() && second.all_at_end(); }));
  expect_no_gap(first);
  expect_no_gap(second);
  CHECK(first.lost + second.lost == 0);
  for (const auto* member : {&first, &second}) {
    for (const auto& [at, part] : member->held) {
      CHECK(member->history[part.ownership].read.offsets.back() == written - 1);
    }
  }
}

TEST_CASE("group consumer: waits with its partitions until the brokers answer") {
  const auto broker = broker_with({{"in", 1}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 0, 0, 10);
  Member member(in_group(*broker), {"in"});
  broker->refuse_log_lookups(3);
  REQUIRE(member.run_until([&] { return records_read(member) == 10; }));
  CHECK(member.history.size() == 1);
  expect_no_gap(member);
}

TEST_CASE("group consumer: a position beyond the log's end is waited for, and read on from without gap or duplicate") {
  const auto broker = broker_with({{"in", 2}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 0, 0, 10);
  write_numbers(*producer, "in", 1, 0, 20);
  Member member(in_group(*broker), {"in"}, [](const PartitionFacts&) { return Offset(12); });
  REQUIRE(member.run_until([&] { return records_read(member) == 8; }));
  CHECK(member.history[0].read.offsets.empty());
  write_numbers(*producer, "in", 0, 10, 5);
  write_numbers(*producer, "in", 1, 20, 20);
  REQUIRE(member.run_until([&] { return records_read(member) >= 3 + 28 && member.all_at_end(); }));
  CHECK(records_read(member) == 3 + 28);
  CHECK(member.history.size() == 2);
  expect_no_gap(member);
}

namespace {

// Refuses in[0] for a while, as the window stage does whose log seems to end before what it has read.
struct Refusing final : GroupListener {
  int refusals;
  int refused = 0;
  std::map<TopicPartition, std::pair<std::unique_ptr<Source>, Read>> held;

  explicit Refusing(int times) : refusals(times) {}
  Result<Offset> on_assign(const TopicPartition& at, const PartitionFacts&, std::unique_ptr<Source> source) override {
    if (at.partition == PartitionId(0) && refused < refusals) return ++refused, retry("the log ends too early");
    held[at].first = std::move(source);
    return kLogStart;
  }
  void on_revoke(std::span<const TopicPartition>, bool) override { held.clear(); }
  size_t read(int32_t partition) {
    const auto found = held.find({"in", PartitionId(partition)});
    if (found == held.end()) return 0;
    auto& [source, read] = found->second;
    read_some(*source, read);
    return read.offsets.size();
  }
};

}  // namespace

TEST_CASE("group consumer: a partition that its listener refuses for now is handed out again, and the others go on") {
  const auto broker = broker_with({{"in", 2}});
  const auto producer = must(Producer::create(broker->settings()));
  for (const int32_t partition : {0, 1}) write_numbers(*producer, "in", partition, 0, 100);
  ManualClock clock(0);
  Refusing listener(2);
  const auto consumer = must(GroupConsumer::create(in_group(*broker), {"in"}, listener, clock));
  REQUIRE(eventually([&] { return must(consumer->poll(5)), listener.read(1) == 100; }));
  CHECK(listener.held.size() == 1);
  clock.advance_ms(1'000);
  must(consumer->poll(5));
  CHECK(listener.refused == 2);
  clock.advance_ms(1'000);
  for (const int32_t partition : {0, 1}) write_numbers(*producer, "in", partition, 100, 100);
  REQUIRE(eventually([&] { return must(consumer->poll(5)), listener.read(0) >= 200 && listener.read(1) >= 200; }));
  for (const auto& [at, part] : listener.held) CHECK(part.second.offsets == numbers(200));
  consumer->close();
}

TEST_CASE("group consumer: a partition that its listener refuses for 30 s comes out of poll as kFatal") {
  const auto broker = broker_with({{"in", 1}});
  ManualClock clock(0);
  Refusing listener(1'000'000);
  const auto consumer = must(GroupConsumer::create(in_group(*broker), {"in"}, listener, clock));
  REQUIRE(eventually([&] { return must(consumer->poll(5)), listener.refused == 1; }));
  clock.advance_ms(29'000);
  must(consumer->poll(5));
  clock.advance_ms(1'000);
  const Status status = consumer->poll(5);
  CHECK(status.code() == Code::kFatal);
  CHECK_THAT(status.message(), Catch::Contains("in[0]") && Catch::Contains("the log ends too early"));
}

TEST_CASE("group consumer: a partition without a leader keeps no other one back, and comes when it has one") {
  const auto broker = broker_with({{"in", 4}});
  const auto producer = must(Producer::create(broker->settings()));
  for (int32_t partition = 0; partition < 4; ++partition) write_numbers(*producer, "in", partition, 0, 10);
  broker->move_leader("in", 2, -1);
  Member member(in_group(*broker), {"in"});
  const auto all_read = [&](size_t partitions) { return member.held.size() == partitions && member.all_at_end(); };
  REQUIRE(member.run_until([&] { return all_read(3); }));
  CHECK_FALSE(member.held.contains({"in", PartitionId(2)}));
  write_numbers(*producer, "in", 0, 10, 10);
  broker->move_leader("in", 2, 1);
  REQUIRE(member.run_until([&] { return all_read(4); }));
  REQUIRE(member.run_until([&] { return member.history[0].read.offsets.size() >= 20; }));
  CHECK(member.history.size() == 4);
  for (const Member::Ownership& one : member.history)
    CHECK(one.read.offsets == numbers(one.at.partition == PartitionId(0) ? 20 : 10));
}

TEST_CASE("group consumer: a member that leaves hands its partitions on") {
  const auto broker = broker_with({{"in", 2}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 0, 0, 10);
  Member first(in_group(*broker, "a"), {"in"});
  REQUIRE(first.run_until([&] { return records_read(first) == 10; }));
  first.consumer->leave();
  CHECK(first.held.empty());
  CHECK(first.lost == 0);
}

TEST_CASE("group consumer: a topic that does not exist is kInvalid, a broker that does not answer kRetry") {
  const auto broker = broker_with({{"in", 1}});
  const SystemClock clock;
  struct Nobody final : GroupListener {
    Result<Offset> on_assign(const TopicPartition&, const PartitionFacts&, std::unique_ptr<Source>) override {
      return kLogStart;
    }
    void on_revoke(std::span<const TopicPartition>, bool) override {}
  } nobody;
  const auto missing = GroupConsumer::create(in_group(*broker), {"in", "nowhere"}, nobody, clock);
  CHECK(missing.code() == Code::kInvalid);
  CHECK_THAT(missing.status().message(), Catch::Contains("nowhere"));
  ClientSettings settings = in_group(*broker);
  settings.bootstrap = "127.0.0.1:9";
  CHECK(GroupConsumer::create(settings, {"in"}, nobody, clock).code() == Code::kRetry);
}

TEST_CASE("group consumer: a failing listener comes out of poll") {
  const auto broker = broker_with({{"in", 1}});
  const SystemClock clock;
  struct Failing final : GroupListener {
    Result<Offset> on_assign(const TopicPartition&, const PartitionFacts&, std::unique_ptr<Source>) override {
      return corrupt("no state");
    }
    void on_revoke(std::span<const TopicPartition>, bool) override { FAIL("nothing was handed out"); }
  } failing;
  const auto consumer = must(GroupConsumer::create(in_group(*broker), {"in"}, failing, clock));
  Status status;
  REQUIRE(eventually([&] { return !(status = consumer->poll(10)).ok(); }));
  CHECK(status.code() == Code::kCorrupt);
  CHECK_THAT(status.message(), Catch::Contains("in[0]") && Catch::Contains("no state"));
}

}  // namespace bloomring::kafka::testing
