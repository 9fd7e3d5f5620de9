#include "pipeline/kafka/producer/producer.h"

#include <atomic>
#include <catch2/catch.hpp>

#include "pipeline/kafka/client.h"
#include "pipeline/kafka/consumer/record_fetch.h"
#include "tests/pipeline/kafka/kafka_world.h"

namespace bloomring::kafka::testing {
namespace {

// The headers of the first record of a partition, read with the bare library.
std::map<std::string, std::string> first_headers(const ClientSettings& settings, const std::string& topic) {
  ClientSettings reader = settings;
  reader.group = "headers";
  const ClientHandle client = must(make_client(must(consumer_conf(reader, 1)), RD_KAFKA_CONSUMER));
  const PartitionListHandle list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), 0)->offset = 0;
  rd_kafka_assign(client.get(), list.get());
  MessageHandle message;
  REQUIRE(eventually([&] {
    message.reset(rd_kafka_consumer_poll(client.get(), 100));
    return message && message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
  }));
  rd_kafka_headers_t* headers = nullptr;
  REQUIRE(rd_kafka_message_headers(message.get(), &headers) == RD_KAFKA_RESP_ERR_NO_ERROR);
  std::map<std::string, std::string> found;
  const char* name;
  const void* value;
  size_t size;
  for (size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i) {
    found.emplace(name, std::string(static_cast<const char*>(value), size));
  }
  return found;
}

}  // namespace

TEST_CASE("producer: a dead letter's headers survive, bytes of any kind included") {
  const auto broker = broker_with({{"dead", 1}});
  const auto producer = must(Producer::create(broker->settings()));
  OutRecord out = record("dead", 0, "{broken");
  out.headers = {{"reason", "bad json"}, {"offset", "17"}, {"empty", ""}, {"bytes", std::string("a\0b", 3)}};
  must(producer->make_sink()->send(out, 1));
  must(producer->flush(60000));
  CHECK(first_headers(broker->settings(), "dead") ==
        std::map<std::string, std::string>(out.headers.begin(), out.headers.end()));
}

TEST_CASE("producer: a record has the time that its writer gives it, with headers and without") {
  const auto broker = broker_with({{"in", 1}});
  const auto producer = must(Producer::create(broker->settings()));
  const auto fetch = must(RecordFetch::create(broker->settings()));
  const auto sink = producer->make_sink();
  OutRecord plain = record("in", 0, "plain");
  plain.time_ms = 1'649'314'823'123;
  OutRecord with_headers = plain;
  with_headers.headers = {{"h", "1"}};
  must(sink->send(plain, 1));
  must(sink->send(with_headers, 2));
  must(producer->flush(30'000));
  for (const int64_t offset : {0, 1}) {
    const auto found = must(fetch->fetch({"in", PartitionId(0)}, Offset(offset), 30'000));
    REQUIRE(found);
    CHECK(found->log_time_ms == 1'649'314'823'123);
    CHECK(found->headers.size() == static_cast<size_t>(offset));
  }
}

TEST_CASE("producer: a ticket comes back once its record is durable") {
  const auto broker = broker_with({{"out", 2}});
  const auto producer = must(Producer::create(broker->settings()));
  const auto sink = producer->make_sink();
  OutRecord out = record("out", 1, "v");
  must(sink->send(out, 42));
  std::vector<uint64_t> tickets;
  REQUIRE(eventually([&] { return must(sink->poll_acks(tickets)), !tickets.empty(); }));
  CHECK(tickets == std::vector<uint64_t>{42});
  must(producer->flush(60000));
  CHECK(producer->stats().delivered == 1);
}

TEST_CASE("producer: each sink hears of its own records only") {
  const auto broker = broker_with({{"out", 1}});
  const auto producer = must(Producer::create(broker->settings()));
  const auto one = producer->make_sink(), two = producer->make_sink();
  for (uint64_t i = 0; i < 100; ++i) {
    OutRecord out = record("out", 0, "v");
    must((i % 3 == 0 ? one : two)->send(out, i));
  }
  must(producer->flush(60000));
  std::vector<uint64_t> of_one, of_two;
  must(one->poll_acks(of_one));
  must(two->poll_acks(of_two));
  CHECK(of_one.size() == 34);
  CHECK(of_two.size() == 66);
  CHECK(std::all_of(of_one.begin(), of_one.end(), [](uint64_t ticket) { return ticket % 3 == 0; }));
}

TEST_CASE("producer: a full queue is kRetry and takes nothing, and drains when the broker is back") {
  const auto broker = broker_with({{"out", 1}});
  ClientSettings settings = broker->settings();
  settings.properties["queue.buffering.max.messages"] = "10";
  const auto producer = must(Producer::create(settings));
  must(producer->verify_topic("out", 1));
  broker->set_down(true);
  const auto sink = producer->make_sink();
  OutRecord out = record("out", 0, "v");
  for (uint64_t i = 0; i < 10; ++i) must(sink->send(out, i));
  CHECK(sink->send(out, 10).code() == Code::kRetry);
  CHECK(out.value == "v");
  CHECK(producer->stats().in_flight == 10);
  broker->set_down(false);
  must(producer->flush(60000));
  must(sink->send(out, 10));
  must(producer->flush(60000));
  CHECK(producer->stats().delivered == 11);
}

TEST_CASE("producer: records for partitions without a leader do not fill the queue, and others are written") {
  const auto broker = broker_with({{"out", 3}, {"other", 1}});
  ClientSettings settings = broker->settings();
  settings.send_memory_bytes = 1 << 20;
  const auto producer = must(Producer::create(settings));
  must(producer->verify_topic("out", 3));
  must(producer->verify_topic("other", 1));
  const auto stuck = producer->make_sink(), sink = producer->make_sink();
  for (const int32_t partition : {0, 1}) broker->move_leader("out", partition, -1);
  const std::string value(10'000, 'v');
  for (const int32_t partition : {0, 1}) {
    Status sent;
    for (int i = 0; i < 1'000 && sent.ok(); ++i) {
      OutRecord out = record("out", partition, value);
      sent = stuck->send(out, 0);
    }
    REQUIRE(sent.code() == Code::kRetry);
  }
  for (const auto& [topic, partition] : {std::pair("out", 2), std::pair("other", 0)}) {
    OutRecord out = record(topic, partition, value);
    must(sink->send(out, 1));
    std::vector<uint64_t> tickets;
    CHECK(eventually([&] {
      must(sink->poll_acks(tickets));
      return !tickets.empty();
    }));
  }
  for (const int32_t partition : {0, 1}) broker->move_leader("out", partition, 1);
  must(producer->flush(60'000));
}

TEST_CASE("producer: a sink may be destroyed while its records are in flight, and they are still written") {
  const auto broker = broker_with({{"out", 1}});
  const auto producer = must(Producer::create(broker->settings()));
  must(producer->verify_topic("out", 1));
  broker->set_down(true);
  auto sink = producer->make_sink();
  for (uint64_t i = 0; i < 100; ++i) {
    OutRecord out = record("out", 0, "v");
    must(sink->send(out, i));
  }
  sink.reset();
  CHECK(producer->stats().in_flight == 100);
  broker->set_down(false);
  must(producer->flush(60000));
  CHECK(producer->stats().delivered == 100);
}

TEST_CASE("producer: is destroyed at once while records are in flight") {
  const auto broker = broker_with({{"out", 1}});
  auto producer = must(Producer::create(broker->settings()));
  must(producer->verify_topic("out", 1));
  broker->set_down(true);
  OutRecord out = record("out", 0, "v");
  must(producer->make_sink()->send(out, 1));
  CHECK(producer->flush(10).code() == Code::kRetry);
  producer.reset();
}

TEST_CASE("producer: an unknown topic, a partition beyond the topic's and a record too large are kFatal, named") {
  const auto broker = broker_with({{"out", 2}});
  const auto producer = must(Producer::create(broker->settings()));
  const auto sink = producer->make_sink();
  OutRecord out = record("nowhere", 0, "v");
  Status status = sink->send(out, 1);
  CHECK(status.code() == Code::kFatal);
  CHECK_THAT(status.message(), Catch::Contains("nowhere") && Catch::Contains("does not exist"));
  out = record("out", 2, "v");
  out.headers = {{"reason", "x"}};
  status = sink->send(out, 1);
  CHECK(status.code() == Code::kFatal);
  CHECK_THAT(status.message(), Catch::Contains("out[2]") && Catch::Contains("2 partitions"));
  out = record("out", 0, std::string(2'000'000, 'x'));
  status = sink->send(out, 1);
  CHECK(status.code() == Code::kFatal);
  CHECK_THAT(status.message(), Catch::Contains("out[0]"));
}

TEST_CASE("producer: a topic that goes away makes its sink kFatal with topic, partition and reason") {
  const auto broker = broker_with({{"out", 1}, {"other", 1}});
  ClientSettings settings = broker->settings();
  settings.properties["topic.metadata.propagation.max.ms"] = "100";
  settings.properties["topic.metadata.refresh.interval.ms"] = "200";
  const auto producer = must(Producer::create(settings));
  must(producer->verify_topic("out", 1));
  must(producer->verify_topic("other", 1));
  broker->break_topic("out");
  const auto sink = producer->make_sink(), other = producer->make_sink();
  std::vector<uint64_t> tickets;
  Status status;
  uint64_t ticket = 0;
  REQUIRE(eventually([&] {
    OutRecord out = record("out", 0, "v");
    out.headers = {{"reason", "x"}};
    status = sink->send(out, ++ticket);
    if (status.ok()) must(producer->flush(60000));
    if (status.ok()) status = sink->poll_acks(tickets);
    return !status.ok();
  }));
  CHECK(status.code() == Code::kFatal);
  CHECK_THAT(status.message(), Catch::Contains("out[0]") && Catch::Contains("nknown"));
  must(other->poll_acks(tickets));
}

TEST_CASE("producer: who writes without a sink is called back once, when the record is durable, with its offset") {
  const auto broker = broker_with({{"out", 2}});
  const auto producer = must(Producer::create(broker->settings()));
  std::atomic<int> calls = 0;
  std::vector<Offset> offsets;  // Told on the drain thread, one after the other.
  for (int i = 0; i < 3; ++i) {
    producer->write(record("out", 1, "v"), [&](const Result<WrittenPlace>& place) {
      calls += place.ok() ? 1 : 100;
      if (place.ok()) offsets.push_back(place->offset);
    });
  }
  must(producer->flush(60000));
  CHECK(calls == 3);
  CHECK(offsets == std::vector<Offset>{Offset(0), Offset(1), Offset(2)});
  CHECK(producer->stats().delivered == 3);
}

TEST_CASE("producer: a record that cannot be taken or written is told to its writer alone") {
  const auto broker = broker_with({{"out", 2}});
  ClientSettings settings = broker->settings();
  settings.properties["queue.buffering.max.messages"] = "1";
  auto producer = must(Producer::create(settings));
  must(producer->verify_topic("out", 2));
  const auto told = [&](const std::string& topic, int32_t partition) {
    Code code = Code::kOk;
    producer->write(record(topic, partition, "v"),
                    [&](const Result<WrittenPlace>& place) { code = place.code(); });
    return code;
  };
  CHECK(told("nowhere", 0) == Code::kFatal);
  CHECK(told("out", 2) == Code::kFatal);
  broker->set_down(true);
  std::atomic<int> retries = 0;
  producer->write(record("out", 0, "v"),
                  [&](const Result<WrittenPlace>& place) { retries += place.code() == Code::kRetry; });
  CHECK(told("out", 0) == Code::kRetry);  // The queue is full.
  CHECK(retries == 0);
  producer.reset();  // Records under way end with an unknown outcome.
  CHECK(retries == 1);
}

TEST_CASE("producer: a topic is verified against the configured number of partitions") {
  const auto broker = broker_with({{"out", 4}});
  const auto producer = must(Producer::create(broker->settings()));
  must(producer->verify_topic("out", 4));
  must(producer->verify_topic("out", 0));
  const Status wrong = producer->verify_topic("out", 8);
  CHECK(wrong.code() == Code::kInvalid);
  CHECK_THAT(wrong.message(), Catch::Contains("4 partitions") && Catch::Contains("8"));
  CHECK(producer->verify_topic("nowhere", 4).code() == Code::kInvalid);
  CHECK(must(producer->partitions_of("out")) == 4);
  CHECK(producer->partitions_of("nowhere").code() == Code::kFatal);
}

}  // namespace bloomring::kafka::testing
