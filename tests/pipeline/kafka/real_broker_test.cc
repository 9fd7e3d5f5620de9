// The same types on a real Apache Kafka, for what the embedded broker does not have: static membership, fencing,
// commits during a rebalance, topics that are made and described. run_on_real_broker.py starts the broker and names
// it in BLOOMRING_TEST_BOOTSTRAP; every test uses topics and a group of its own.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "kafka_world.h"
#include "pipeline/kafka/admin.h"
#include "pipeline/kafka/client.h"
#include "pipeline/kafka/consumer/assigned_consumer.h"
#include "pipeline/kafka/consumer/group_consumer.h"
#include "pipeline/kafka/consumer/partition_source.h"
#include "pipeline/kafka/consumer/position_recovery.h"
#include "pipeline/kafka/lookup.h"
#include "tests/support/manual_clock.h"

namespace bloomring::kafka::testing {
namespace {

const SystemClock kClock;

ClientSettings real_broker(const std::string& group = "", const std::string& instance_id = "") {
  const char* bootstrap = std::getenv("BLOOMRING_TEST_BOOTSTRAP");
  INFO("start it with run_on_real_broker.py");
  REQUIRE(bootstrap != nullptr);
  return {.bootstrap = bootstrap,
          .properties = {{"heartbeat.interval.ms", "200"}, {"session.timeout.ms", "30000"}},
          .group = group,
          .instance_id = instance_id,
          .commit_interval_ms = 50};
}

// Returns when the broker tells of it, which may be a moment after the controller has made it.
void make_topic(const std::string& name, int32_t partitions, std::map<std::string, std::string> config = {}) {
  const auto admin = must(Admin::create(real_broker()));
  const NewTopic topic{.name = name, .partitions = partitions, .replication = 1, .config = std::move(config)};
  must(admin->create_topics(std::span(&topic, 1)));
  REQUIRE(eventually([&] { return must(admin->describe(std::vector{name}))[0].exists; }));
}

// The answer to a request of an administrator.
void expect_done(const QueueHandle& answers) {
  const EventHandle answer(rd_kafka_queue_poll(answers.get(), 14000));
  REQUIRE(answer);
  REQUIRE(rd_kafka_event_error(answer.get()) == RD_KAFKA_RESP_ERR_NO_ERROR);
}

// As retention does it.
void delete_before(const TopicPartition& at, Offset first_kept) {
  const ClientHandle client = must(make_client(must(producer_conf(real_broker())), RD_KAFKA_PRODUCER));
  const PartitionListHandle list = make_list(std::span(&at, 1), first_kept);
  const QueueHandle answers(rd_kafka_queue_new(client.get()));
  rd_kafka_DeleteRecords_t* request = rd_kafka_DeleteRecords_new(list.get());
  rd_kafka_DeleteRecords(client.get(), &request, 1, nullptr, answers.get());
  rd_kafka_DeleteRecords_destroy(request);
  expect_done(answers);
}

void delete_topic(const std::string& name) {
  const ClientHandle client = must(make_client(must(producer_conf(real_broker())), RD_KAFKA_PRODUCER));
  const QueueHandle answers(rd_kafka_queue_new(client.get()));
  rd_kafka_DeleteTopic_t* request = rd_kafka_DeleteTopic_new(name.c_str());
  rd_kafka_DeleteTopics(client.get(), &request, 1, nullptr, answers.get());
  rd_kafka_DeleteTopic_destroy(request);
  expect_done(answers);
}

// A transaction that has begun, with so many records; open until `end`.
class Transaction {
 public:
  Transaction(const std::string& topic, int count) : client_(make(topic)) {
    done(rd_kafka_init_transactions(client_.get(), 30'000));
    done(rd_kafka_begin_transaction(client_.get()));
    for (int i = 0; i < count; ++i) {
      char value[] = "x";
      REQUIRE(rd_kafka_producev(client_.get(), RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(0),
                                RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_VALUE(value, 1),
                                RD_KAFKA_V_END) == RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    REQUIRE(rd_kafka_flush(client_.get(), 30'000) == RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  void end(bool commit) {
    done(commit ? rd_kafka_commit_transaction(client_.get(), 30'000)
                : rd_kafka_abort_transaction(client_.get(), 30'000));
  }

 private:
  static ClientHandle make(const std::string& topic) {
    ConfHandle conf = bare_conf();
    const auto set = [&](const char* name, const std::string& value) {
      REQUIRE(rd_kafka_conf_set(conf.get(), name, value.c_str(), nullptr, 0) == RD_KAFKA_CONF_OK);
    };
    set("bootstrap.servers", real_broker().bootstrap);
    set("transactional.id", topic);
    return must(make_client(std::move(conf), RD_KAFKA_PRODUCER));
  }
  static void done(rd_kafka_error_t* error) {
    INFO((error == nullptr ? "" : rd_kafka_error_string(error)));
    REQUIRE(error == nullptr);
  }

  const ClientHandle client_;
};

// Records in one transaction, and its marker, which takes an offset of its own.
void write_transaction(const std::string& topic, int count, bool commit) { Transaction(topic, count).end(commit); }

bool step_both(Member& first, Member& second) { return must(first.step()), must(second.step()), true; }

}  // namespace

TEST_CASE("real broker: a static member that restarts gets its partitions back and moves nobody else's") {
  make_topic("static", 4);
  const auto producer = must(Producer::create(real_broker()));
  for (int32_t partition = 0; partition < 4; ++partition) write_numbers(*producer, "static", partition, 0, 10);
  auto first = std::make_unique<Member>(real_broker("static", "a"), std::vector<std::string>{"static"});
  Member second(real_broker("static", "b"), {"static"});
  REQUIRE(eventually([&] {
    step_both(*first, second);
    return first->held.size() == 2 && second.held.size() == 2 && first->all_at_end() && second.all_at_end();
  }));
  const auto rebalances = second.consumer->stats().rebalances;
  const auto held_before = first->history.back().at;
  first.reset();
  first = std::make_unique<Member>(real_broker("static", "a"), std::vector<std::string>{"static"});
  REQUIRE(eventually([&] { return step_both(*first, second) && first->held.size() == 2; }));
  CHECK(first->history.back().at == held_before);
  CHECK(first->history.back().facts.committed == Offset(10));
  CHECK(second.consumer->stats().rebalances == rebalances);
}

TEST_CASE("real broker: an offset is found by the time in the log") {
  make_topic("times", 2, {{"message.timestamp.type", "LogAppendTime"}});
  const auto producer = must(Producer::create(real_broker()));
  write_numbers(*producer, "times", 0, 0, 10);
  const int64_t written_ms = kClock.now_ms();
  REQUIRE(eventually([&] { return kClock.now_ms() > written_ms + 10; }));
  const int64_t between_ms = kClock.now_ms();
  write_numbers(*producer, "times", 0, 10, 5);
  const auto consumer = must(AssignedConsumer::create(real_broker(), 2, kClock));
  const std::vector<TopicPartition> both = {{"times", PartitionId(0)}, {"times", PartitionId(1)}};
  const auto at = [&](int64_t time_ms) {
    std::vector<std::optional<Offset>> offsets;
    for (auto& one : consumer->offsets_at(both, std::vector<int64_t>(both.size(), time_ms), 5000))
      offsets.push_back(must(std::move(one)));
    return offsets;
  };
  CHECK(at(written_ms - 3'600'000)[0] == Offset(0));
  CHECK(at(between_ms)[0] == Offset(10));
  CHECK(at(between_ms + 3'600'000)[0] == std::nullopt);
  CHECK(at(between_ms)[1] == std::nullopt);  // Nothing was ever written to it.
}

TEST_CASE("real broker: a commit while the partitions are taken away is accepted, and the next owner starts there") {
  make_topic("revoked", 2);
  const auto producer = must(Producer::create(real_broker()));
  for (int32_t partition = 0; partition < 2; ++partition) write_numbers(*producer, "revoked", partition, 0, 10);
  ClientSettings settings = real_broker("revoked", "a");
  settings.commit_interval_ms = 3'600'000;
  Member first(settings, {"revoked"});
  REQUIRE(first.run_until([&] {
    return first.held.size() == 2 && first.history[0].read.offsets.size() + first.history[1].read.offsets.size() == 20;
  }));
  CHECK(first.consumer->stats().commits == 0);
  Member second(real_broker("revoked", "b"), {"revoked"});
  REQUIRE(eventually([&] { return step_both(first, second) && second.held.size() == 1; }));
  CHECK(second.history.back().facts.committed == Offset(10));
  CHECK(first.consumer->stats().commits == 1);
  CHECK(first.consumer->stats().commit_failures == 0);
}

TEST_CASE("real broker: a static member that leaves gives its partitions up at once") {
  make_topic("left", 2);
  Member first(real_broker("left", "a"), {"left"});
  auto second = std::make_unique<Member>(real_broker("left", "b"), std::vector<std::string>{"left"});
  REQUIRE(eventually([&] { return step_both(first, *second) && first.held.size() == 1 && second->held.size() == 1; }));
  second->consumer->leave();
  REQUIRE(first.run_until([&] { return first.held.size() == 2; }));
  CHECK(first.lost == 0);
}

TEST_CASE("real broker: of two members with one instance id the older is fenced and loses its partitions") {
  make_topic("fenced", 2);
  Member older(real_broker("fenced", "a"), {"fenced"});
  REQUIRE(older.run_until([&] { return older.held.size() == 2; }));
  Member younger(real_broker("fenced", "a"), {"fenced"});
  Status status;
  REQUIRE(eventually([&] { return must(younger.step()), !(status = older.step()).ok() && younger.held.size() == 2; }));
  CHECK(status.code() == Code::kFenced);
  CHECK(older.held.empty());
  CHECK(older.lost == 1);
}

TEST_CASE("real broker: topics are made as asked, described, and refused a second time") {
  const auto admin = must(Admin::create(real_broker()));
  const std::vector<std::string> names{"made", "nowhere"};
  make_topic("made", 3, {{"retention.ms", "123456789"}, {"cleanup.policy", "delete"}});
  REQUIRE(eventually([&] { return must(admin->describe(names))[0].exists; }));
  const auto topics = must(admin->describe(names));
  CHECK(topics[0].partitions == 3);
  CHECK(topics[0].replication == 1);
  CHECK_FALSE(topics[1].exists);
  CHECK(must(admin->config("made")).at("retention.ms") == "123456789");
  CHECK(admin->config("nowhere").code() == Code::kInvalid);
  const NewTopic again{.name = "made"};
  const Status refused = admin->create_topics(std::span(&again, 1));
  CHECK(refused.code() == Code::kInvalid);
  CHECK_THAT(refused.message(), Catch::Contains("made") && Catch::Contains("already exists"));
}

TEST_CASE("real broker: a position that retention has passed is kFatal with the log's bounds; its start is readable") {
  make_topic("trimmed", 1);
  const TopicPartition at{"trimmed", PartitionId(0)};
  const auto producer = must(Producer::create(real_broker()));
  REQUIRE(eventually([&] { return producer->verify_topic("trimmed", 1).ok(); }));
  write_numbers(*producer, "trimmed", 0, 0, 10);
  delete_before(at, Offset(6));
  const auto reader = must(AssignedConsumer::create(real_broker(), 1, kClock));
  const auto facts = must(reader->facts(std::span(&at, 1)));
  CHECK(facts[0].log_start == Offset(6));
  CHECK(facts[0].log_end == Offset(10));
  Status status;
  {
    const auto sources = must(reader->assign(std::vector{AssignedConsumer::Start{at, Offset(2)}}));
    REQUIRE(eventually([&] { return must(reader->poll(1)), !(status = sources[0]->poll().status()).ok(); }));
  }
  CHECK(status.code() == Code::kFatal);
  CHECK_THAT(status.message(),
             Catch::Contains("trimmed[0]") && Catch::Contains("offset 2") && Catch::Contains("[6, 10)"));
  const auto again = must(AssignedConsumer::create(real_broker(), 1, kClock));
  const auto sources = must(again->assign(std::vector{AssignedConsumer::Start{at, kLogStart}}));
  Read read;
  REQUIRE(eventually([&] { return read_some(*sources[0], read), sources[0]->at_end(); }));
  CHECK(read.offsets == numbers(4, 6));
}

TEST_CASE("real broker: a position passes what is no record, and may stand where the log then begins and ends") {
  make_topic("transactions", 1);
  const TopicPartition at{"transactions", PartitionId(0)};
  write_transaction("transactions", 3, /*commit=*/true);   // 0 to 2, marker 3
  write_transaction("transactions", 2, /*commit=*/false);  // 4 and 5 aborted, marker 6
  write_transaction("transactions", 2, /*commit=*/true);   // 7 and 8, marker 9
  write_transaction("transactions", 1, /*commit=*/false);  // 10 aborted, marker 11
  const ClientHandle client = must(make_client(must(consumer_conf(real_broker("transactions"), 1)), RD_KAFKA_CONSUMER));
  SourceHost host{.client = client.get()};
  const auto position = std::make_shared<Position>(at);
  PositionRecovery placement(client.get(), real_broker().bootstrap);
  placement.add(position, kLogStart);
  auto source = std::make_unique<PartitionSource>(host, position, Offset(-1));
  must(placement.assign(kClock.steady_ns()));
  Read read;
  REQUIRE(eventually([&] { return read_some(*source, read), source->at_end(); }));
  CHECK(read.offsets == std::vector<int64_t>{0, 1, 2, 7, 8});
  CHECK(source->position() == Offset(12));
  CHECK(source->log_end() == Offset(12));

  delete_before(at, Offset(12));
  must(placement.assign(kClock.steady_ns()));  // As after a rebalance.
  write_transaction("transactions", 1, /*commit=*/true);
  REQUIRE(eventually([&] {
    must(placement.serve(kClock.steady_ns()));
    return read_some(*source, read), read.offsets.back() == 12 && source->at_end();
  }));
  CHECK(source->position() == Offset(14));
  source.reset();
  placement.clear();
}

TEST_CASE("real broker: the end of a log for writers is behind an open transaction, and that for readers before it") {
  make_topic("open", 1);
  const std::vector<TopicPartition> at{{"open", PartitionId(0)}};
  const auto consumer = must(AssignedConsumer::create(real_broker(), 1, kClock));
  const auto end = [&](AssignedConsumer::LogEnd which) {
    std::optional<Offset> told;
    REQUIRE(eventually([&] {
      const auto ends = consumer->log_ends(at, 60'000, which);
      if (ends[0].ok()) told = *ends[0];
      return told.has_value();
    }));
    return *told;
  };
  using enum AssignedConsumer::LogEnd;
  Transaction transaction("open", 2);  // 0 and 1
  write_numbers(*must(Producer::create(real_broker())), "open", 0, 0, 3);  // Acknowledged: 2 to 4
  CHECK(end(kForReaders) == Offset(0));
  CHECK(end(kForWriters) == Offset(5));
  transaction.end(/*commit=*/true);  // Marker 5
  CHECK(eventually([&] { return end(kForReaders) == Offset(6); }));
  CHECK(end(kForWriters) == Offset(6));
}

// The new topic is shorter than what was read when its end is asked for, and longer a moment later: no offset tells.
TEST_CASE("real broker: a topic that was made again and grows past the position is told by the record before it") {
  make_topic("remade", 1);
  const TopicPartition at{"remade", PartitionId(0)};
  const auto write = [](int first, int count) {
    const auto producer = must(Producer::create(real_broker()));
    REQUIRE(eventually([&] { return producer->verify_topic("remade", 1).ok(); }));
    write_numbers(*producer, "remade", 0, first, count);
  };
  write(0, 10);
  const ClientHandle client = must(make_client(must(consumer_conf(real_broker("remade"), 1)), RD_KAFKA_CONSUMER));
  SourceHost host{.client = client.get()};
  const auto position = std::make_shared<Position>(at);
  PositionRecovery placement(client.get(), real_broker().bootstrap);
  placement.add(position, kLogStart);
  auto source = std::make_unique<PartitionSource>(host, position, Offset(-1));
  ManualClock clock(0);
  must(placement.assign(clock.steady_ns()));
  Read read;
  REQUIRE(eventually([&] { return read_some(*source, read), read.offsets.size() == 10; }));

  delete_topic("remade");
  make_topic("remade", 1);
  write(100, 3);
  REQUIRE(eventually([&] { return !must(source->poll()) && position->state() == Position::State::kDoubted; }));
  write(200, 20);
  Status status;
  REQUIRE(eventually([&] {
    clock.advance_ms(100);
    must(placement.serve(clock.steady_ns()));
    return !(status = source->poll().status()).ok();
  }));
  CHECK_THAT(status.message(), Catch::Contains("remade[0]: offset 9 holds another record"));
  source.reset();
  placement.clear();
}

TEST_CASE("real broker: a record that the topic refuses makes its sink kFatal") {
  make_topic("small", 1, {{"max.message.bytes", "1000"}, {"compression.type", "uncompressed"}});
  ClientSettings settings = real_broker();
  settings.properties["compression.codec"] = "none";
  const auto producer = must(Producer::create(settings));
  REQUIRE(eventually([&] { return producer->verify_topic("small", 1).ok(); }));
  const auto sink = producer->make_sink();
  OutRecord out = record("small", 0, std::string(5000, 'x'));
  must(sink->send(out, 1));
  must(producer->flush(60000));
  std::vector<uint64_t> tickets;
  const Status status = sink->poll_acks(tickets);
  CHECK(status.code() == Code::kFatal);
  CHECK_THAT(status.message(), Catch::Contains("small[0]") && Catch::Contains("too large"));
}

}  // namespace bloomring::kafka::testing
