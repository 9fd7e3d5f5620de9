#include "pipeline/kafka/partition_source.h"

#include <spdlog/spdlog.h>

#include <span>

#include "pipeline/kafka/commit_board.h"
#include "pipeline/kafka/lookup.h"

namespace bloomring::kafka {
namespace {

// How long a source that has lost its position may ask where the log starts, for its last message.
constexpr int kLastWordsTimeoutMs = 2000;

QueueHandle cut_loose(rd_kafka_t* client, const TopicPartition& at) {
  QueueHandle queue(rd_kafka_queue_get_partition(client, at.topic.c_str(), at.partition.value));
  BLOOMRING_CHECK(queue, "no queue for partition " + to_string(at));
  rd_kafka_queue_forward(queue.get(), nullptr);
  return queue;
}

std::string_view bytes(const void* data, size_t size) { return {static_cast<const char*>(data), size}; }

LogRecord to_record(const rd_kafka_message_t& message) {
  rd_kafka_timestamp_type_t type;
  return LogRecord{.offset = Offset(message.offset),
                   .log_time_ms = rd_kafka_message_timestamp(&message, &type),
                   .key = bytes(message.key, message.key_len),
                   .value = bytes(message.payload, message.len)};
}

}  // namespace

PartitionSource::PartitionSource(SourceHost& host, TopicPartition at, Offset log_end)
    : host_(host), at_(std::move(at)), first_log_end_(log_end), queue_(cut_loose(host.client, at_)) {
  ++host_.live_sources;
}

PartitionSource::~PartitionSource() {
  message_.reset();
  queue_.reset();
  --host_.live_sources;
}

Result<std::optional<LogRecord>> PartitionSource::poll() {
  message_.reset(rd_kafka_consume_queue(queue_.get(), 0));
  if (!message_) return std::optional<LogRecord>();
  if (message_->err != RD_KAFKA_RESP_ERR_NO_ERROR) return on_error();
  end_seen_at_ = -1;
  return std::optional(to_record(*message_));
}

Result<std::optional<LogRecord>> PartitionSource::on_error() {
  const std::string what = to_string(at_) + ": " + rd_kafka_message_errstr(message_.get());
  switch (message_->err) {
    case RD_KAFKA_RESP_ERR__PARTITION_EOF: end_seen_at_ = message_->offset; return std::optional<LogRecord>();
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET: return lose_position();
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION: return corrupt(what);
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE: return fatal(what);
    default: spdlog::warn("kafka: {}", what); return std::optional<LogRecord>();
  }
}

Status PartitionSource::lose_position() {
  lost_position_ = true;
  const int64_t offset = message_->offset;
  const std::string what = to_string(at_) + ": the log no longer has offset " + std::to_string(offset);
  const auto facts = query_facts(host_.client, host_.bootstrap, std::span(&at_, 1), Ask::kLog, kLastWordsTimeoutMs);
  if (!facts.ok()) return fatal(what + " (" + rd_kafka_message_errstr(message_.get()) + ")");
  const auto [from, to] = std::pair(facts->front().log_start.value, facts->front().log_end.value);
  const std::string holds = "; it holds [" + std::to_string(from) + ", " + std::to_string(to) + ")";
  if (offset < from) {
    return fatal(what + holds + ": retention has removed " + std::to_string(from - offset) +
                 " records before they were read");
  }
  return fatal(what + holds + ": the topic was cut or made anew, and " + std::to_string(offset - to) +
               " records or more are lost");
}

bool PartitionSource::at_end() const { return end_seen_at_ >= 0 && log_end().value <= end_seen_at_; }

// librdkafka takes it from each fetch.
Offset PartitionSource::log_start() const {
  int64_t low = -1, high = -1;
  rd_kafka_get_watermark_offsets(host_.client, at_.topic.c_str(), at_.partition.value, &low, &high);
  return Offset(low >= 0 ? low : -1);
}

Offset PartitionSource::log_end() const {
  int64_t low = -1, high = -1;
  rd_kafka_get_watermark_offsets(host_.client, at_.topic.c_str(), at_.partition.value, &low, &high);
  return high >= 0 ? Offset(high) : first_log_end_;
}

void PartitionSource::commit(Offset next) {
  if (host_.commits != nullptr) host_.commits->record(at_, next);
}

}  // namespace bloomring::kafka
