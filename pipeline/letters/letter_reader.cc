#include "pipeline/letters/letter_reader.h"

#include <algorithm>
#include <utility>

#include "pipeline/kafka/admin.h"
#include "pipeline/runtime/wait.h"

namespace bloomring {

namespace {

constexpr int64_t kFactsBoundMs = 15'000;
constexpr int kAskTimeoutMs = 5'000;

Status unreadable(const std::string& topic, const Status& why) {
  std::string message = "topic " + topic + " (topics.dead) cannot be read: " + why.message();
  if (why.message().find("authorization") != std::string::npos) {
    message += "; grant the user of kafka.properties the rights Describe and Read on it (kafka-acls.sh)";
  }
  return Status(why.code(), std::move(message));
}

}  // namespace

LetterReader::~LetterReader() { open_.clear(); }

Result<std::unique_ptr<LetterReader>> LetterReader::open(const kafka::ClientSettings& kafka, std::string topic,
                                                         const Clock& clock) {
  std::unique_ptr<LetterReader> reader(new LetterReader(std::move(topic), clock));
  BLOOMRING_TRY(reader->find(kafka));
  return reader;
}

Status LetterReader::find(const kafka::ClientSettings& kafka) {
  BLOOMRING_TRY_ASSIGN(const auto admin, kafka::Admin::create(kafka));
  BLOOMRING_TRY_ASSIGN(const auto described, admin->describe(std::vector{topic_}, kAskTimeoutMs, 2 * kAskTimeoutMs));
  if (!described[0].exists) {
    return invalid("topic " + topic_ +
                   " (topics.dead) does not exist, or may not be seen: `bloomring topics` shows the topics, and with "
                   "--execute creates them");
  }
  std::vector<kafka::TopicPartition> all;
  for (int32_t p = 0; p < described[0].partitions; ++p) all.push_back({topic_, PartitionId(p)});
  kafka::ClientSettings settings = kafka;
  settings.queue_memory_bytes = kQueueBytes;
  BLOOMRING_TRY_ASSIGN(consumer_, kafka::AssignedConsumer::create(settings, all.size(), clock_));
  std::vector<kafka::PartitionFacts> facts;
  Status why;
  // A partition of a topic that was just made has no leader for a moment.
  const Status told = wait_until(clock_, kFactsBoundMs, "the ends of " + topic_, [&]() -> Result<bool> {
    auto found = consumer_->facts(all);
    why = found.status();
    if (found.code() == Code::kRetry) return false;
    BLOOMRING_TRY(found.status());
    facts = std::move(*found);
    return true;
  });
  if (!told.ok()) return unreadable(topic_, why.ok() ? told : why);
  for (size_t i = 0; i < all.size(); ++i) held_.push_back({all[i].partition, facts[i].log_start, facts[i].log_end});
  return {};
}

Result<std::vector<LetterRange>> LetterReader::partitions_since(int64_t since_ms) {
  std::vector<kafka::TopicPartition> all;
  for (const LetterRange& held : held_) all.push_back({topic_, held.partition});
  const auto found = consumer_->offsets_at(all, std::vector<int64_t>(all.size(), since_ms), kAskTimeoutMs);
  std::vector<LetterRange> ranges = held_;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (!found[i].ok()) return unreadable(topic_, found[i].status());
    ranges[i].from = std::clamp(found[i]->value_or(ranges[i].to), ranges[i].from, ranges[i].to);
  }
  return ranges;
}

Status LetterReader::begin(std::vector<LetterRange> ranges) {
  std::erase_if(ranges, [](const LetterRange& range) { return range.from >= range.to; });
  std::vector<kafka::AssignedConsumer::Start> starts;
  for (const LetterRange& range : ranges) starts.push_back({{topic_, range.partition}, range.from});
  if (starts.empty()) return {};
  BLOOMRING_TRY_ASSIGN(std::vector<std::unique_ptr<Source>> sources, consumer_->assign(starts));
  for (size_t i = 0; i < ranges.size(); ++i) open_.push_back({ranges[i], std::move(sources[i])});
  return {};
}

Result<std::optional<DeadRecord>> LetterReader::next() {
  for (size_t tried = 0; tried < open_.size();) {
    Part& part = open_[turn_ % open_.size()];
    auto record = next_of(part);
    if (!record.ok()) return unreadable(topic_, record.status());
    if (*record) return record;
    if (part.source->position() >= part.range.to) {
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(turn_ % open_.size()));
      continue;
    }
    ++turn_;
    ++tried;
  }
  const Status polled = consumer_->poll(0);
  if (!polled.ok()) return unreadable(topic_, polled);
  return std::optional<DeadRecord>();
}

Result<std::optional<DeadRecord>> LetterReader::next_of(Part& part) {
  if (part.source->position() >= part.range.to) return std::optional<DeadRecord>();
  BLOOMRING_TRY_ASSIGN(const std::optional<LogRecord> record, part.source->poll());
  if (!record || record->offset >= part.range.to) return std::optional<DeadRecord>();
  return std::optional(DeadRecord{.partition = part.range.partition,
                                  .offset = record->offset,
                                  .log_time_ms = record->log_time_ms,
                                  .bytes = record->key.size() + record->value.size(),
                                  .letter = read_letter(record->key, record->value, part.source->headers())});
}

Status LetterReader::read_all(int64_t patience_ms, const std::function<Status(DeadRecord& record)>& take) {
  while (!done()) {
    std::optional<DeadRecord> record;
    const Status came = wait_until(clock_, patience_ms, "the letters of " + topic_, [&]() -> Result<bool> {
      BLOOMRING_TRY_ASSIGN(record, next());
      return record || done();
    });
    if (came.code() == Code::kFatal) return retry(came.message() + ": the brokers do not send them; try again");
    BLOOMRING_TRY(Status(came));
    if (record) BLOOMRING_TRY(take(*record));
  }
  return {};
}

}  // namespace bloomring
