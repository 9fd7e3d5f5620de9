#include "pipeline/kafka/consumer/record_fetch.h"

#include <catch2/catch.hpp>

#include "pipeline/kafka/consumer/assigned_consumer.h"
#include "tests/pipeline/kafka/kafka_world.h"

namespace bloomring::kafka::testing {
namespace {

constexpr int kBoundMs = 60'000;
const SystemClock kClock;

}  // namespace

TEST_CASE("record fetch: records are found by their places, in any order, of any size, with their headers") {
  const auto broker = broker_with({{"in", 2}});
  ClientSettings settings = broker->settings();
  settings.message_bytes_max = 4 << 20;
  const auto producer = must(Producer::create(settings));
  write_numbers(*producer, "in", 1, 0, 20);
  OutRecord big = record("in", 0, std::string(3 << 20, 'x'));
  big.key = std::string("k\0", 2);
  big.headers = {{"h", std::string("\xff\0", 2)}, {"h", "again"}, {"empty", ""}};
  const RecordHeaders headers = big.headers;
  const auto sink = producer->make_sink();
  must(sink->send(big, 1));
  must(producer->flush(kBoundMs));
  const auto fetch = must(RecordFetch::create(broker->settings()));
  for (const int64_t offset : {7, 19, 0, 8}) {
    const auto found = must(fetch->fetch({"in", PartitionId(1)}, Offset(offset), kBoundMs));
    REQUIRE(found);
    CHECK(found->value == std::to_string(offset));
    CHECK(found->headers.empty());
  }
  const auto found = must(fetch->fetch({"in", PartitionId(0)}, Offset(0), kBoundMs));
  REQUIRE(found);
  CHECK(found->value == std::string(3 << 20, 'x'));
  CHECK(found->key == std::string("k\0", 2));
  CHECK(found->headers == headers);
}

TEST_CASE("record fetch: a place behind the end of the log is nothing") {
  const auto broker = broker_with({{"in", 1}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 0, 0, 3);
  const auto fetch = must(RecordFetch::create(broker->settings()));
  CHECK_FALSE(must(fetch->fetch({"in", PartitionId(0)}, Offset(3), kBoundMs)));
  CHECK_FALSE(must(fetch->fetch({"in", PartitionId(0)}, Offset(1000), kBoundMs)));
}

TEST_CASE("record fetch: a broker that is away is kRetry, and the record is there when it is back") {
  const auto broker = broker_with({{"in", 1}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 0, 0, 3);
  const auto fetch = must(RecordFetch::create(broker->settings()));
  broker->set_down(true);
  CHECK(fetch->fetch({"in", PartitionId(0)}, Offset(1), 500).code() == Code::kRetry);
  broker->set_down(false);
  CHECK(must(fetch->fetch({"in", PartitionId(0)}, Offset(1), kBoundMs))->value == "1");
}

TEST_CASE("record fetch: a source, too, tells the headers of the record that it returned last") {
  const auto broker = broker_with({{"in", 1}});
  const auto producer = must(Producer::create(broker->settings()));
  const auto sink = producer->make_sink();
  OutRecord first = record("in", 0, "first"), second = record("in", 0, "second");
  first.headers = {{"a", "1"}, {"b", ""}};
  must(sink->send(first, 1));
  must(producer->flush(kBoundMs));
  must(sink->send(second, 2));
  must(producer->flush(kBoundMs));
  const auto consumer = must(AssignedConsumer::create(broker->settings(), 1, kClock));
  auto sources = must(consumer->assign(std::vector{AssignedConsumer::Start{{"in", PartitionId(0)}, Offset(0)}}));
  std::vector<RecordHeaders> seen;
  CHECK(eventually([&] {
    must(consumer->poll(5));
    while (must(sources[0]->poll())) seen.push_back(sources[0]->headers());
    return seen.size() == 2;
  }));
  CHECK(seen == std::vector<RecordHeaders>{{{"a", "1"}, {"b", ""}}, {}});
  sources.clear();
}

}  // namespace bloomring::kafka::testing
