// The topic of jobs on an embedded broker, as several processes see it.
#include "pipeline/jobs/kafka_job_board.h"

#include <catch2/catch.hpp>

#include "pipeline/kafka/embedded_broker.h"
#include "pipeline/runtime/wait.h"

using namespace bloomring;

namespace {

using Missing = KafkaJobBoard::Missing;

struct Bed {
  explicit Bed(bool with_topic = true) {
    auto made = kafka::EmbeddedBroker::create();
    REQUIRE(made.ok());
    broker = std::move(*made);
    if (with_topic) REQUIRE(broker->create_topic("site-jobs", 1).ok());
  }
  std::unique_ptr<KafkaJobBoard> open(Missing missing = Missing::kIsEmpty) {
    auto board = KafkaJobBoard::open({.kafka = broker->settings(), .group_prefix = "site"}, missing, clock);
    INFO(board.status().message());
    REQUIRE(board.ok());
    return std::move(*board);
  }
  SystemClock clock;
  std::unique_ptr<kafka::EmbeddedBroker> broker;
};

std::string record_of(const std::string& name, uint64_t done) {
  JobRecord record;
  record.name = name;
  record.progress.done = done;
  return encode_job_record(record);
}

}  // namespace

TEST_CASE("kafka job board: what one process has written, every later refresh of another one brings") {
  Bed bed;
  const auto job = bed.open(), list = bed.open();
  REQUIRE(list->refresh().ok());
  CHECK(list->book().jobs().empty());
  for (uint64_t done = 1; done <= 20; ++done) {
    REQUIRE(job->write(job_key("a"), record_of("a", done)).ok());
    REQUIRE(list->refresh().ok());
    REQUIRE(list->book().find("a") != nullptr);
    REQUIRE(list->book().find("a")->progress.done == done);
  }
  const auto later = bed.open();
  REQUIRE(later->refresh().ok());
  CHECK(later->book().find("a")->progress.done == 20);
}

TEST_CASE("kafka job board: a job hears of a rate while it runs, by polling alone") {
  Bed bed;
  const auto job = bed.open(), asks = bed.open();
  REQUIRE(job->refresh().ok());
  REQUIRE(asks->write(rate_key("a"), encode_job_rate(70)).ok());
  const Status heard = wait_until(bed.clock, 30'000, "the rate", [&]() -> Result<bool> {
    BLOOMRING_TRY(job->poll());
    return job->book().wished_rate("a").has_value();
  });
  CHECK(heard.ok());
  CHECK(job->book().wished_rate("a") == 70);
}

TEST_CASE("kafka job board: a record that was removed is gone for every reader") {
  Bed bed;
  const auto board = bed.open();
  REQUIRE(board->write(job_key("a"), record_of("a", 1)).ok());
  REQUIRE(board->write(job_key("b"), record_of("b", 1)).ok());
  REQUIRE(board->write(job_key("a"), "").ok());
  const auto later = bed.open();
  REQUIRE(later->refresh().ok());
  CHECK(later->book().find("a") == nullptr);
  CHECK(later->book().find("b") != nullptr);
}

TEST_CASE("kafka job board: without its topic it is empty, and cannot be written") {
  Bed bed(/*with_topic=*/false);
  const auto board = bed.open();
  CHECK(board->refresh().ok());
  CHECK(board->poll().ok());
  CHECK(board->book().jobs().empty());
  CHECK(board->write(job_key("a"), record_of("a", 1)).code() == Code::kInvalid);
}

TEST_CASE("kafka job board: a topic with several partitions is not that of jobs") {
  Bed bed(/*with_topic=*/false);
  REQUIRE(bed.broker->create_topic("site-jobs", 3).ok());
  const auto board = KafkaJobBoard::open({.kafka = bed.broker->settings(), .group_prefix = "site"},
                                         Missing::kIsEmpty, bed.clock);
  CHECK(board.code() == Code::kInvalid);
  CHECK(board.status().message().find("3 partitions") != std::string::npos);
}
