#include "pipeline/jobs/kafka_job_board.h"

#include <array>
#include <functional>
#include <span>
#include <utility>

#include "base/log.h"
#include "pipeline/kafka/admin.h"
#include "pipeline/runtime/wait.h"

namespace bloomring {

namespace {

constexpr int64_t kAnswerMs = 15'000;
constexpr int64_t kTopicMs = 30'000;  // A topic that was just made is not known to every broker yet.

// As wait_until, but brokers that do not answer in time are kRetry, with the last reason.
Status wait_for_brokers(const Clock& clock, int64_t bound_ms, const std::string& what,
                        const std::function<Result<bool>()>& met) {
  Status why = retry("no broker answered");
  bool failed = false;
  const Status waited = wait_until(clock, bound_ms, what, [&]() -> Result<bool> {
    auto answer = met();
    if (answer.ok()) return answer;
    why = answer.status();
    failed = answer.code() != Code::kRetry;
    return failed ? Result<bool>(why) : false;
  });
  if (waited.ok() || failed) return waited;
  return retry("waited " + std::to_string(bound_ms / 1000) + " s in vain for " + what + ": " + why.message());
}

// Segments are short, so that compaction, which leaves the newest one as it is, comes to all but the last records.
kafka::NewTopic new_topic(const KafkaJobBoardConfig& config) {
  kafka::NewTopic topic{config.topic(), 1, config.replication};
  topic.config = {{"cleanup.policy", "compact"},
                  {"segment.ms", "3600000"},
                  {"segment.bytes", "16777216"},
                  {"min.cleanable.dirty.ratio", "0.1"},
                  {"max.message.bytes", "1048588"}};
  if (config.replication >= 3) topic.config["min.insync.replicas"] = "2";
  return topic;
}

// Retention would remove the position of a job that was stopped for longer, and the job would begin again. Without the
// right to describe the topic's settings nobody can tell.
Status check_kept(kafka::Admin& admin, const std::string& topic) {
  const auto settings = admin.config(topic);
  if (!settings.ok()) return {};
  const auto policy = settings->find("cleanup.policy");
  if (policy == settings->end() || policy->second == "compact") return {};
  return invalid(topic + " has cleanup.policy " + policy->second +
                 ", by which Kafka removes the positions of jobs: set it to compact, with kafka-configs.sh --alter "
                 "--add-config cleanup.policy=compact");
}

}  // namespace

Result<std::unique_ptr<KafkaJobBoard>> KafkaJobBoard::open(KafkaJobBoardConfig config, Missing missing,
                                                           const Clock& clock) {
  std::unique_ptr<KafkaJobBoard> board(new KafkaJobBoard(std::move(config), clock));
  BLOOMRING_TRY(board->find_topic(missing).with_context("the topic of jobs"));
  if (board->there_) BLOOMRING_TRY(board->start_reading().with_context("the topic of jobs"));
  return board;
}

KafkaJobBoard::~KafkaJobBoard() = default;

Status KafkaJobBoard::find_topic(Missing missing) {
  BLOOMRING_TRY_ASSIGN(const auto admin, kafka::Admin::create(config_.kafka));
  const std::array<std::string, 1> names = {config_.topic()};
  kafka::TopicDescription found;
  BLOOMRING_TRY(wait_for_brokers(clock_, kAnswerMs, "a description of " + names[0], [&]() -> Result<bool> {
    BLOOMRING_TRY_ASSIGN(const auto all, admin->describe(names));
    found = all.front();
    return true;
  }));
  if (!found.exists) {
    if (missing == Missing::kIsEmpty) return {};
    const std::array<kafka::NewTopic, 1> wanted = {new_topic(config_)};
    const Status made = admin->create_topics(wanted);
    // Another process may have made it at the same moment.
    BLOOMRING_TRY(wait_for_brokers(clock_, made.ok() ? kTopicMs : 0, "topic " + names[0], [&]() -> Result<bool> {
                    BLOOMRING_TRY_ASSIGN(const auto all, admin->describe(names));
                    found = all.front();
                    if (!found.exists && !made.ok()) return made;
                    return found.exists;
                  }));
    log_info("the topic of jobs was created", {{"topic", names[0]}});
  } else if (missing == Missing::kIsMade) {
    BLOOMRING_TRY(check_kept(*admin, names[0]));
  }
  if (found.partitions != 1) {
    return invalid(names[0] + " has " + std::to_string(found.partitions) +
                   " partitions, and jobs are kept in one: remove it, and a job creates it again");
  }
  there_ = true;
  return {};
}

Status KafkaJobBoard::start_reading() {
  kafka::ClientSettings kafka = config_.kafka;
  kafka.queue_memory_bytes = size_t{8} << 20;
  kafka.send_memory_bytes = size_t{8} << 20;
  BLOOMRING_TRY_ASSIGN(consumer_, kafka::AssignedConsumer::create(kafka, 1, clock_));
  BLOOMRING_TRY_ASSIGN(producer_, kafka::Producer::create(kafka));
  const auto verified = [&]() -> Result<bool> {
    BLOOMRING_TRY(producer_->verify_topic(config_.topic(), 1));
    return true;
  };
  BLOOMRING_TRY(wait_for_brokers(clock_, kTopicMs, config_.topic(), verified));
  sink_ = producer_->make_sink();
  const std::array<kafka::AssignedConsumer::Start, 1> start = {{{{config_.topic(), PartitionId(0)}, kafka::kLogStart}}};
  BLOOMRING_TRY_ASSIGN(auto sources, consumer_->assign(start));
  source_ = std::move(sources.front());
  return {};
}

Status KafkaJobBoard::refresh() {
  if (!there_) return {};
  const std::array<kafka::TopicPartition, 1> partition = {{{config_.topic(), PartitionId(0)}}};
  Offset end;
  BLOOMRING_TRY(wait_for_brokers(clock_, kAnswerMs, "the end of " + config_.topic(), [&]() -> Result<bool> {
    BLOOMRING_TRY_ASSIGN(const auto facts, consumer_->facts(partition));
    end = facts.front().log_end;
    return true;
  }));
  return wait_for_brokers(clock_, kAnswerMs, "the records of " + config_.topic(), [&] { return read(end); });
}

Status KafkaJobBoard::poll() { return there_ ? read(Offset(INT64_MAX)).status() : Status(); }

// True when everything below `end` was read.
Result<bool> KafkaJobBoard::read(Offset end) {
  BLOOMRING_TRY(consumer_->poll(0));
  for (;;) {
    BLOOMRING_TRY_ASSIGN(const std::optional<LogRecord> record, source_->poll());
    if (!record) break;
    book_.apply(record->key, record->value);
  }
  return source_->position() >= end || end.value == 0;
}

Result<bool> KafkaJobBoard::acknowledged() {
  acks_.clear();
  BLOOMRING_TRY(sink_->poll_acks(acks_));
  for (const uint64_t ticket : acks_) in_flight_ = in_flight_ && ticket != sent_;
  return !in_flight_;
}

Status KafkaJobBoard::write(const std::string& key, const std::string& value) {
  if (!there_) return invalid(config_.topic() + " does not exist: no job has been started yet");
  const auto wait = [&] {
    return wait_for_brokers(clock_, kAnswerMs, "an acknowledgement from " + config_.topic(),
                            [&] { return acknowledged(); });
  };
  BLOOMRING_TRY(wait());  // For the record before, which may have been given up.
  OutRecord record{config_.topic(), PartitionId(0), key, value, {}};
  BLOOMRING_TRY(sink_->send(record, sent_ + 1));
  ++sent_;
  in_flight_ = true;
  return wait();
}

}  // namespace bloomring
