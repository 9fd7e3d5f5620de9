#include "pipeline/kafka/consumer/assigned_consumer.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "tests/pipeline/kafka/kafka_world.h"
#include "tests/support/manual_clock.h"

namespace bloomring::kafka::testing {
namespace {

const SystemClock kClock;

struct Reader {
  std::unique_ptr<AssignedConsumer> consumer;
  std::vector<std::unique_ptr<Source>> sources;

  Reader(const EmbeddedBroker& broker, const std::vector<AssignedConsumer::Start>& starts, const Clock& clock = kClock)
      : consumer(must(AssignedConsumer::create(broker.settings(), starts.size(), clock))),
        sources(must(consumer->assign(starts))) {}
};

// Reads sources on a thread of its own, as workers do. (Catch's macros are for one thread.)
class ReadingThread {
 public:
  explicit ReadingThread(const std::vector<std::unique_ptr<Source>>& sources)
      : sources_(sources), read_(sources.size()), counts_(sources.size()), thread_([this] { run(); }) {}
  ~ReadingThread() { finish(); }
  size_t count(size_t source) const { return counts_[source]; }
  const std::vector<Read>& finish() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return read_;
  }

 private:
  void run() {
    while (!stop_) {
      for (size_t i = 0; i < sources_.size(); ++i) {
        const auto record = sources_[i]->poll();
        if (!record.ok() || !*record) continue;
        read_[i].offsets.push_back((*record)->offset.value);
        ++counts_[i];
      }
    }
  }

  const std::vector<std::unique_ptr<Source>>& sources_;
  std::vector<Read> read_;
  std::vector<std::atomic<size_t>> counts_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

const TopicPartition kIn0{"in", PartitionId(0)};
const TopicPartition kIn1{"in", PartitionId(1)};

// The offsets that the source returns until its position is `end`, while the reader places it where it went back to.
std::vector<int64_t> read_to(const Reader& reader, Source& source, Offset end) {
  Read read;
  CHECK(eventually([&] {
    must(reader.consumer->poll(5));
    read_some(source, read);
    return source.position() == end;
  }));
  return read.offsets;
}

// Asks until the first of the answers is one: of brokers that are there a busy machine may hear nothing in half a
// second.
template <typename Ask>
auto told_of_first(const Ask& ask) {
  auto answers = ask();
  (void)eventually([&] { return answers[0].ok() || (answers = ask(), answers[0].ok()); });
  return answers;
}

}  // namespace

TEST_CASE("assigned consumer: facts are the log's start and end, for several partitions at once") {
  const auto broker = broker_with({{"in", 2}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 1, 0, 7);
  const auto consumer = must(AssignedConsumer::create(broker->settings(), 2, kClock));
  const auto facts = must(consumer->facts(std::vector{kIn1, kIn0}));
  REQUIRE(facts.size() == 2);
  CHECK(facts[0].log_start == Offset(0));
  CHECK(facts[0].log_end == Offset(7));
  CHECK(facts[1].log_end == Offset(0));
  CHECK_FALSE(facts[0].committed.has_value());
}

TEST_CASE("assigned consumer: the ends of logs are the brokers' word; without brokers there is none, in bounded time") {
  const auto broker = broker_with({{"in", 2}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 1, 0, 7);
  const auto consumer = must(AssignedConsumer::create(broker->settings(), 2, kClock));
  const auto ends = consumer->log_ends(std::vector{kIn1, kIn0}, 60'000);
  CHECK(must(ends[0]) == Offset(7));
  CHECK(must(ends[1]) == Offset(0));
  broker->set_down(true);
  for (const auto& end : consumer->log_ends(std::vector{kIn1, kIn0}, 500)) CHECK(end.code() == Code::kRetry);
}

TEST_CASE("assigned consumer: the log's ends are told again when their leader is gone and another one is there") {
  const auto broker = must(EmbeddedBroker::create(2));
  must(broker->create_topic("in", 1));
  broker->move_leader("in", 0, 1);
  const auto consumer = must(AssignedConsumer::create(broker->settings(), 1, kClock));
  REQUIRE(must(consumer->log_ends(std::vector{kIn0}, 60'000)[0]) == Offset(0));
  broker->set_down(true);
  broker->move_leader("in", 0, 2);
  CHECK(eventually([&] { return consumer->log_ends(std::vector{kIn0}, 500)[0].ok(); }));
}

// A broker that stood still is fenced for a moment when it goes on: it names no leader. librdkafka 2.0.2 takes such a
// partition for one that does not exist, and does not ask again by itself.
TEST_CASE("assigned consumer: the log's ends are told again when no broker led their partition for a while") {
  const auto broker = broker_with({{"in", 1}});
  const auto consumer = must(AssignedConsumer::create(broker->settings(), 1, kClock));
  REQUIRE(must(consumer->log_ends(std::vector{kIn0}, 60'000)[0]) == Offset(0));
  broker->move_leader("in", 0, -1);
  REQUIRE(eventually([&] { return !consumer->log_ends(std::vector{kIn0}, 500)[0].ok(); }));
  broker->move_leader("in", 0, 1);
  CHECK(eventually([&] { return consumer->log_ends(std::vector{kIn0}, 500)[0].ok(); }));
}

TEST_CASE("assigned consumer: a partition without a leader takes no answer from the others") {
  const auto broker = broker_with({{"in", 2}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 0, 0, 7);
  broker->move_leader("in", 1, -1);
  const auto consumer = must(AssignedConsumer::create(broker->settings(), 2, kClock));
  const std::vector both{kIn0, kIn1};
  const auto facts = told_of_first([&] { return consumer->facts_of_each(both, 500); });
  CHECK(must(facts[0]).log_end == Offset(7));
  CHECK(facts[1].code() == Code::kRetry);
  CHECK_THAT(facts[1].status().message(), Catch::Contains("no broker leads it"));
  const auto of_group = told_of_first([&] { return consumer->group_facts(both, 500); });
  CHECK(must(of_group[0]).log_end == Offset(7));
  CHECK(of_group[1].code() == Code::kRetry);
  const auto young = told_of_first([&] { return consumer->offsets_at(both, std::vector<int64_t>{0, 0}, 500); });
  CHECK(young[0].ok());
  CHECK(young[1].code() == Code::kRetry);
  const auto ends = told_of_first([&] { return consumer->log_ends(both, 500); });
  CHECK(must(ends[0]) == Offset(7));
  CHECK(ends[1].code() == Code::kRetry);
}

TEST_CASE("assigned consumer: partitions come and go, and those that stay are read on without gap or duplicate") {
  const auto broker = broker_with({{"in", 2}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 0, 0, 500);
  write_numbers(*producer, "in", 1, 0, 500);
  const auto consumer = must(AssignedConsumer::create(broker->settings(), 2, kClock));
  const auto zero = must(consumer->assign(std::vector{AssignedConsumer::Start{kIn0, kLogStart}}));
  Read stays, comes;
  REQUIRE(eventually([&] { return read_some(*zero[0], stays), stays.offsets.size() >= 100; }));
  for (int64_t round = 1; round <= 3; ++round) {
    auto one = must(consumer->assign(std::vector{AssignedConsumer::Start{kIn1, Offset(400)}}));
    comes = {};
    write_numbers(*producer, "in", 0, static_cast<int>(400 + 100 * round), 100);
    const auto wanted = static_cast<size_t>(500 + 100 * round);
    REQUIRE(eventually([&] {
      must(consumer->poll(1));
      read_some(*zero[0], stays);
      read_some(*one[0], comes);
      return stays.offsets.size() >= wanted && comes.offsets.size() >= 100;
    }));
    one.clear();
    consumer->release(kIn1);
  }
  CHECK(comes.offsets == numbers(100, 400));
  CHECK(stays.offsets == numbers(800));
}

TEST_CASE("assigned consumer: reads each partition in order from where it was told") {
  const auto broker = broker_with({{"in", 2}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 0, 0, 500);
  write_numbers(*producer, "in", 1, 0, 500);
  const Reader reader(*broker, {{kIn0, kLogStart}, {kIn1, Offset(400)}});
  Read zero, one;
  REQUIRE(eventually([&] {
    read_some(*reader.sources[0], zero);
    read_some(*reader.sources[1], one);
    return zero.offsets.size() >= 500 && one.offsets.size() >= 100;
  }));
  CHECK(zero.offsets == numbers(500));
  CHECK(one.offsets == numbers(100, 400));
  CHECK(zero.values[123] == "123");
}

TEST_CASE("source: is at the end when everything was returned, and no longer when more was written") {
  const auto broker = broker_with({{"in", 1}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 0, 0, 10);
  const Reader reader(*broker, {{kIn0, kLogStart}});
  Source& source = *reader.sources[0];
  CHECK_FALSE(source.at_end());
  CHECK(source.log_end() == Offset(-1));
  Read read;
  REQUIRE(eventually([&] { return read_some(source, read), source.at_end(); }));
  CHECK(read.offsets == numbers(10));
  CHECK(source.log_end() == Offset(10));
  write_numbers(*producer, "in", 0, 10, 5);
  REQUIRE(eventually([&] { return source.log_end() == Offset(15); }));
  CHECK_FALSE(source.at_end());
  REQUIRE(eventually([&] { return read_some(source, read), source.at_end(); }));
  CHECK(read.offsets == numbers(15));
}

TEST_CASE("source: an empty partition is at its end") {
  const auto broker = broker_with({{"in", 1}});
  const Reader reader(*broker, {{kIn0, kLogStart}});
  Read read;
  REQUIRE(eventually([&] { return read_some(*reader.sources[0], read), reader.sources[0]->at_end(); }));
  CHECK(read.offsets.empty());
  CHECK(reader.sources[0]->log_end() == Offset(0));
}

// As a broker answers that stood still and takes itself for the leader: its log ends before what was read elsewhere.
TEST_CASE("source: a position beyond the log's end is waited for, and read on from without gap or duplicate") {
  const auto broker = broker_with({{"in", 2}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 0, 0, 10);
  write_numbers(*producer, "in", 1, 0, 100);
  const Reader reader(*broker, {{kIn0, Offset(12)}, {kIn1, kLogStart}});
  ReadingThread reading(reader.sources);
  const auto poll_until = [&](size_t zero, size_t one) {
    return eventually(
        [&] { return must(reader.consumer->poll(1)), reading.count(0) >= zero && reading.count(1) >= one; });
  };
  REQUIRE(poll_until(0, 100));
  CHECK(reading.count(0) == 0);
  write_numbers(*producer, "in", 0, 10, 5);
  write_numbers(*producer, "in", 1, 100, 100);
  REQUIRE(poll_until(3, 200));
  write_numbers(*producer, "in", 0, 15, 100);
  write_numbers(*producer, "in", 1, 200, 100);
  REQUIRE(poll_until(103, 300));
  const auto read = reading.finish();
  CHECK(read[0].offsets == numbers(103, 12));
  CHECK(read[1].offsets == numbers(300));
}

TEST_CASE("source: a position in doubt is waited for while no broker answers") {
  const auto broker = broker_with({{"in", 1}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 0, 0, 10);
  ManualClock clock(0);
  const Reader reader(*broker, {{kIn0, Offset(12)}}, clock);
  Source& source = *reader.sources[0];
  Read read;
  REQUIRE(eventually([&] { return read_some(source, read), source.log_end() == Offset(10); }));
  broker->set_down(true);
  for (int i = 0; i < 3; ++i) {
    clock.advance_ms(60'000);
    must(reader.consumer->poll(1));
    read_some(source, read);
  }
  broker->set_down(false);
  write_numbers(*producer, "in", 0, 10, 5);
  REQUIRE(eventually([&] {
    clock.advance_ms(200);
    return must(reader.consumer->poll(1)), read_some(source, read), read.offsets.size() == 3;
  }));
  CHECK(read.offsets == numbers(3, 12));
}

TEST_CASE("source: a position beyond the log's end for 30 s is kFatal with the position and the log's bounds") {
  const auto broker = broker_with({{"in", 1}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 0, 0, 10);
  ManualClock clock(0);
  const Reader reader(*broker, {{kIn0, Offset(1000)}}, clock);
  Status status;
  REQUIRE(eventually([&] {
    clock.advance_ms(500);
    must(reader.consumer->poll(1));
    return !(status = reader.sources[0]->poll().status()).ok();
  }));
  CHECK(clock.now_ms() > 30'000);
  CHECK(reader.sources[0]->lost_position());
  CHECK(status.code() == Code::kFatal);
  CHECK_THAT(status.message(), Catch::Contains("in[0]") && Catch::Contains("1000") && Catch::Contains("[0, 10)"));
}

TEST_CASE("source: one that goes back returns everything from there on once more, without gap or duplicate") {
  const auto broker = broker_with({{"in", 1}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 0, 0, 20);
  const Reader reader(*broker, {{kIn0, Offset(0)}});
  Source& source = *reader.sources[0];
  const int64_t read_before = GENERATE(8, 20);  // With more in the queue, and at the end.
  for (int64_t count = 0; count < read_before;) {
    REQUIRE(eventually([&] { return must(source.poll()).has_value(); }));
    ++count;
  }
  source.go_back(Offset(5));
  CHECK(source.position() == Offset(5));
  write_numbers(*producer, "in", 0, 20, 5);
  CHECK(read_to(reader, source, Offset(25)) == numbers(20, 5));
}

TEST_CASE("source: one that goes back further before anything came from there misses nothing of what lies between") {
  const auto broker = broker_with({{"in", 2}});
  const auto producer = must(Producer::create(broker->settings()));
  for (const int32_t partition : {0, 1}) write_numbers(*producer, "in", partition, 0, 20);
  const Reader reader(*broker, {{kIn0, Offset(0)}, {{"in", PartitionId(1)}, Offset(0)}});
  Source& source = *reader.sources[0];
  Source& other = *reader.sources[1];
  Read first;
  const auto at_end = [&] { return source.position() == Offset(20) && other.position() == Offset(20); };
  REQUIRE(eventually([&] { return read_some(source, first), read_some(other, first), at_end(); }));
  // The second time comes when the queue has what was placed for the first one, of this source or of the other alone.
  const bool went_back_before = GENERATE(true, false);
  other.go_back(Offset(15));
  if (went_back_before) source.go_back(Offset(15));
  REQUIRE(eventually([&] { return must(reader.consumer->poll(5)), must(other.poll()).has_value(); }));
  source.go_back(Offset(5));
  CHECK(read_to(reader, source, Offset(20)) == numbers(15, 5));
}

TEST_CASE("source: keys, values and times are the record's own") {
  const auto broker = broker_with({{"in", 1}});
  const auto producer = must(Producer::create(broker->settings()));
  const auto sink = producer->make_sink();
  const int64_t before_ms = kClock.now_ms();
  OutRecord out = record("in", 0, std::string("a\0b", 3));
  out.key = "the key";
  must(sink->send(out, 1));
  const Reader reader(*broker, {{kIn0, kLogStart}});
  std::optional<LogRecord> read;
  REQUIRE(eventually([&] { return (read = must(reader.sources[0]->poll())).has_value(); }));
  CHECK(read->key == "the key");
  CHECK(read->value == std::string_view("a\0b", 3));
  CHECK(read->log_time_ms >= before_ms);
  CHECK(read->log_time_ms <= kClock.now_ms());
}

TEST_CASE("source: waits for a broker that is down and goes on when it is back") {
  const auto broker = broker_with({{"in", 1}});
  const auto producer = must(Producer::create(broker->settings()));
  write_numbers(*producer, "in", 0, 0, 10);
  const Reader reader(*broker, {{kIn0, kLogStart}});
  Read read;
  REQUIRE(eventually([&] { return read_some(*reader.sources[0], read), read.offsets.size() == 10; }));
  broker->set_down(true);
  must(reader.consumer->poll(100));
  read_some(*reader.sources[0], read);
  broker->set_down(false);
  write_numbers(*producer, "in", 0, 10, 10);
  REQUIRE(eventually([&] { return read_some(*reader.sources[0], read), read.offsets.size() == 20; }));
  CHECK(read.offsets == numbers(20));
}

}  // namespace bloomring::kafka::testing
