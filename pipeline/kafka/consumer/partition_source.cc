#include "pipeline/kafka/consumer/partition_source.h"

#include <algorithm>

#include "base/log.h"
#include "pipeline/kafka/consumer/commit_board.h"
#include "pipeline/kafka/consumer/read_headers.h"

namespace bloomring::kafka {
namespace {

constexpr int kPlacedInVainMax = 5;

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

PartitionSource::PartitionSource(SourceHost& host, std::shared_ptr<Position> position, Offset log_end)
    : host_(host),
      position_(std::move(position)),
      first_log_end_(log_end),
      queue_(cut_loose(host.client, position_->at())) {
  ++host_.live_sources;
}

PartitionSource::~PartitionSource() {
  message_.reset();
  queue_.reset();
  --host_.live_sources;
}

Result<std::optional<LogRecord>> PartitionSource::poll() {
  if (lost_position()) return fatal(position_->why_lost());
  if (!position_->assigned()) return std::optional<LogRecord>();
  while (true) {
    message_.reset(rd_kafka_consume_queue(queue_.get(), 0));
    if (!message_) return std::optional<LogRecord>();
    if (back_from_ && from_before()) continue;
    if (message_->err != RD_KAFKA_RESP_ERR_NO_ERROR) return on_error();
    if (message_->offset >= position_->next().value) return std::optional(take());
    BLOOMRING_TRY(compare_again());
  }
}

RecordHeaders PartitionSource::headers() const { return message_ ? read_headers(*message_) : RecordHeaders(); }

// An old record may have two causes. If the PositionRecovery placed the source just before `go_back`, the source asks
// to be placed again. After kPlacedInVainMax times the cause is compaction, which removed all records between.
bool PartitionSource::from_before() {
  const bool end = message_->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
  if (message_->err != RD_KAFKA_RESP_ERR_NO_ERROR && !end) return false;
  const bool awaited = message_->offset == position_->next().value;  // Right from either placement.
  if (!end && (awaited || message_->offset < back_from_->value)) {
    if (message_->offset >= position_->next().value) back_from_.reset();
    return false;
  }
  if (position_->state() == Position::State::kPlaced && ++placed_in_vain_ == kPlacedInVainMax) {
    back_from_.reset();
    return false;
  }
  position_->doubt();
  return true;
}

void PartitionSource::go_back(Offset offset) {
  if (lost_position()) return;
  back_from_ = position_->one_before();
  placed_in_vain_ = 0;
  end_seen_at_ = -1;
  last_.reset();
  position_->go_back(offset);
}

LogRecord PartitionSource::take() {
  end_seen_at_ = -1;
  last_ = seen();
  position_->returned(last_->offset);
  return to_record(*message_);
}

PartitionSource::Seen PartitionSource::seen() const {
  return {Offset(message_->offset), to_record(*message_).log_time_ms, message_->key_len, message_->len};
}

Status PartitionSource::compare_again() {
  const Seen again = seen();
  if (!last_ || again.offset != last_->offset || again == *last_) return {};
  return fatal(to_string(at()) + ": offset " + std::to_string(again.offset.value) +
               " holds another record than the one that was read there before: the topic was made again, or lost "
               "records by an unclean election. The next start says what can be done");
}

Result<std::optional<LogRecord>> PartitionSource::on_error() {
  const std::string what = to_string(at()) + ": " + rd_kafka_message_errstr(message_.get());
  switch (message_->err) {
    case RD_KAFKA_RESP_ERR__PARTITION_EOF: see_end(); return std::optional<LogRecord>();
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET: doubt(); return std::optional<LogRecord>();
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION: return corrupt(what);
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE: return fatal(what);
    default:
      log_warning("kafka: " + what, {{"topic", at().topic},
                                     {"partition", at().partition.value},
                                     {"code", rd_kafka_err2name(message_->err)}});
      return std::optional<LogRecord>();
  }
}

// All records below the end have come, so offsets below it that did not come hold no record.
void PartitionSource::see_end() {
  end_seen_at_ = message_->offset;
  position_->reached(Offset(end_seen_at_));
}

void PartitionSource::doubt() {
  end_seen_at_ = -1;
  log_warning(std::string("kafka: ") + rd_kafka_message_errstr(message_.get()) + "; asks where the log begins and ends",
              {{"topic", at().topic},
               {"partition", at().partition.value},
               {"offset", position_->next().value},
               {"code", rd_kafka_err2name(message_->err)}});
  position_->doubt();
}

bool PartitionSource::at_end() const { return end_seen_at_ >= 0 && log_end().value <= end_seen_at_; }

// librdkafka updates it with each fetch.
Offset PartitionSource::log_start() const {
  int64_t low = -1, high = -1;
  rd_kafka_get_watermark_offsets(host_.client, at().topic.c_str(), at().partition.value, &low, &high);
  return Offset(low >= 0 ? low : -1);
}

Offset PartitionSource::log_end() const {
  int64_t low = -1, high = -1;
  rd_kafka_get_watermark_offsets(host_.client, at().topic.c_str(), at().partition.value, &low, &high);
  return high >= 0 ? Offset(high) : first_log_end_;
}

void PartitionSource::commit(Offset next) {
  if (host_.commits != nullptr) host_.commits->record(at(), next);
}

}  // namespace bloomring::kafka
