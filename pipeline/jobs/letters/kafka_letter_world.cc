#include "pipeline/jobs/letters/kafka_letter_world.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "pipeline/kafka/consumer/assigned_consumer.h"

namespace bloomring {

namespace {

constexpr int kAskTimeoutMs = 5'000;
constexpr int kFetchTimeoutMs = 15'000;
constexpr size_t kAroundValueBytes = 2 << 20;  // A key of any size that a producer could send with it, and headers.

// A setting of a topic as a number; the largest one stands for "unlimited".
std::optional<int64_t> setting_of(const std::map<std::string, std::string>& config, const std::string& name) {
  const auto found = config.find(name);
  if (found == config.end()) return std::nullopt;
  int64_t value = 0;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Result<std::unique_ptr<KafkaLetterWorld>> KafkaLetterWorld::create(const kafka::ClientSettings& kafka,
                                                                   std::string dead_topic, size_t record_bytes_max,
                                                                   const Clock& clock) {
  std::unique_ptr<KafkaLetterWorld> world(new KafkaLetterWorld(kafka, std::move(dead_topic), clock));
  BLOOMRING_TRY(world->open(record_bytes_max));
  return world;
}

Status KafkaLetterWorld::open(size_t record_bytes_max) {
  BLOOMRING_TRY_ASSIGN(admin_, kafka::Admin::create(kafka_));
  kafka::ClientSettings writer = kafka_;
  writer.message_bytes_max = std::max(writer.message_bytes_max, record_bytes_max + kAroundValueBytes);
  BLOOMRING_TRY_ASSIGN(producer_, kafka::Producer::create(writer));
  BLOOMRING_TRY_ASSIGN(fetch_, kafka::RecordFetch::create(kafka_));
  return {};
}

Result<std::vector<LetterRange>> KafkaLetterWorld::held(std::optional<int64_t> since_ms) {
  BLOOMRING_TRY_ASSIGN(opened_, LetterReader::open(kafka_, dead_topic_, clock_));
  if (since_ms) return opened_->partitions_since(*since_ms);
  return opened_->partitions();
}

Result<std::unique_ptr<DeadRecords>> KafkaLetterWorld::read(std::vector<LetterRange> ranges) {
  BLOOMRING_CHECK(opened_, "`held` opens what is read");
  BLOOMRING_TRY(opened_->begin(std::move(ranges)));
  return std::unique_ptr<DeadRecords>(std::move(opened_));
}

Result<TargetTopic> KafkaLetterWorld::target(const std::string& topic) {
  BLOOMRING_TRY_ASSIGN(const auto found, admin_->describe(std::vector{topic}, kAskTimeoutMs, 2 * kAskTimeoutMs));
  if (!found[0].exists) {
    return invalid("topic " + topic + ", to which letters are to be put back, does not exist, or may not be seen; "
                   "--to names another one");
  }
  TargetTopic target{.partitions = found[0].partitions};
  // Without the right to describe its settings, records get the time of now.
  const auto config = admin_->config(topic, kAskTimeoutMs);
  if (!config.ok()) return target;
  target.kept_ms = setting_of(*config, "retention.ms");
  // Brokers before 3.6 have no such bound.
  target.behind_max_ms = config->contains("message.timestamp.before.max.ms")
                             ? setting_of(*config, "message.timestamp.before.max.ms")
                             : std::optional<int64_t>(-1);
  return target;
}

Result<const std::vector<kafka::PartitionFacts>*> KafkaLetterWorld::log_of(const std::string& topic) {
  if (const auto known = logs_.find(topic); known != logs_.end()) return &known->second;
  BLOOMRING_TRY_ASSIGN(const auto found, admin_->describe(std::vector{topic}, kAskTimeoutMs, 2 * kAskTimeoutMs));
  std::vector<kafka::PartitionFacts> facts;
  if (found[0].exists) {
    std::vector<kafka::TopicPartition> all;
    for (int32_t p = 0; p < found[0].partitions; ++p) all.push_back({topic, PartitionId(p)});
    BLOOMRING_TRY_ASSIGN(const auto consumer, kafka::AssignedConsumer::create(kafka_, all.size(), clock_));
    BLOOMRING_TRY_ASSIGN(facts, consumer->facts(all));
  }
  return &logs_.emplace(topic, std::move(facts)).first->second;
}

// By the log at the first question about the topic.
Result<bool> KafkaLetterWorld::has_original(const Letter& letter) {
  BLOOMRING_TRY_ASSIGN(const auto* const log, log_of(letter.topic));
  const auto at = static_cast<size_t>(letter.partition.value);
  if (at >= log->size()) return false;
  return letter.offset >= (*log)[at].log_start && letter.offset < (*log)[at].log_end;
}

Result<std::optional<kafka::FetchedRecord>> KafkaLetterWorld::original(const Letter& letter) {
  BLOOMRING_TRY_ASSIGN(const bool there, has_original(letter));
  if (!there) return std::optional<kafka::FetchedRecord>();
  return fetch_->fetch({letter.topic, letter.partition}, letter.offset, kFetchTimeoutMs);
}

void KafkaLetterWorld::write(const OutRecord& record, kafka::Written written) {
  producer_->write(record, std::move(written));
}

}  // namespace bloomring
