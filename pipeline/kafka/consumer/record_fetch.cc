#include "pipeline/kafka/consumer/record_fetch.h"

#include <map>
#include <utility>

#include "pipeline/kafka/client.h"
#include "pipeline/kafka/consumer/read_headers.h"
#include "pipeline/kafka/lookup.h"

namespace bloomring::kafka {
namespace {

constexpr int kPollMs = 100;
constexpr size_t kQueueBytes = 4 << 20;  // Records behind the wanted one are dropped: few are fetched.

std::string bytes(const void* data, size_t size) {
  return data == nullptr ? "" : std::string(static_cast<const char*>(data), size);
}

FetchedRecord to_fetched(const rd_kafka_message_t& message) {
  rd_kafka_timestamp_type_t type;
  return {.log_time_ms = rd_kafka_message_timestamp(&message, &type),
          .key = bytes(message.key, message.key_len),
          .value = bytes(message.payload, message.len),
          .headers = read_headers(message)};
}

}  // namespace

class RecordFetch::Core {
 public:
  Core(std::string bootstrap, ClientHandle client) : bootstrap_(std::move(bootstrap)), client_(std::move(client)) {}

  Result<std::optional<FetchedRecord>> fetch(const TopicPartition& at, Offset offset, int timeout_ms) {
    BLOOMRING_TRY_ASSIGN(rd_kafka_topic_t* const topic, topic_of(at.topic));
    // Librdkafka's interface of single partitions: its stop waits until nothing is under way, so that the next start
    // may follow at once. (For assignments see PositionRecovery::assign.)
    if (rd_kafka_consume_start(topic, at.partition.value, offset.value) != 0) {
      return lookup_failure(rd_kafka_last_error(), bootstrap_, timeout_ms).with_context(to_string(at));
    }
    auto found = await(topic, at, offset, timeout_ms);
    rd_kafka_consume_stop(topic, at.partition.value);
    return found;
  }

 private:
  Result<rd_kafka_topic_t*> topic_of(const std::string& name) {
    TopicHandle& topic = topics_[name];
    if (!topic) topic.reset(rd_kafka_topic_new(client_.get(), name.c_str(), nullptr));
    if (!topic) return invalid("topic '" + name + "': " + rd_kafka_err2str(rd_kafka_last_error()));
    return topic.get();
  }

  Result<std::optional<FetchedRecord>> await(rd_kafka_topic_t* topic, const TopicPartition& at, Offset offset,
                                             int timeout_ms) {
    for (int left_ms = timeout_ms; left_ms > 0; left_ms -= kPollMs) {
      rd_kafka_poll(client_.get(), 0);  // The client's errors, which go to the log.
      const MessageHandle message(rd_kafka_consume(topic, at.partition.value, kPollMs));
      if (!message) continue;
      switch (message->err) {
        case RD_KAFKA_RESP_ERR_NO_ERROR:
          if (message->offset < offset.value) continue;  // Of the same batch.
          if (message->offset > offset.value) return std::optional<FetchedRecord>();
          return std::optional(to_fetched(*message));
        case RD_KAFKA_RESP_ERR__PARTITION_EOF:
        case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:  // The log lies behind the offset, or before it.
        case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE: return std::optional<FetchedRecord>();
        default:
          const Status failed = lookup_failure(message->err, bootstrap_, timeout_ms);
          if (failed.code() != Code::kRetry) return Status(failed).with_context(to_string(at));
      }
    }
    return retry(to_string(at) + ": no broker sent the record at offset " + std::to_string(offset.value) + " within " +
                 std::to_string(timeout_ms / 1000) + " s");
  }

  const std::string bootstrap_;
  ClientHandle client_;
  std::map<std::string, TopicHandle> topics_;  // Destroyed before the client.
};

Result<std::unique_ptr<RecordFetch>> RecordFetch::create(const ClientSettings& settings) {
  ClientSettings own = settings;
  own.queue_memory_bytes = kQueueBytes;
  if (own.group.empty()) own.group = own.client_id + "-reader";  // Never joined.
  own.instance_id.clear();
  BLOOMRING_TRY_ASSIGN(ConfHandle conf, consumer_conf(own, 1));
  BLOOMRING_TRY_ASSIGN(ClientHandle client, make_client(std::move(conf), RD_KAFKA_CONSUMER));
  return std::unique_ptr<RecordFetch>(new RecordFetch(std::make_unique<Core>(own.bootstrap, std::move(client))));
}

RecordFetch::RecordFetch(std::unique_ptr<Core> core) : core_(std::move(core)) {}
RecordFetch::~RecordFetch() = default;
Result<std::optional<FetchedRecord>> RecordFetch::fetch(const TopicPartition& at, Offset offset, int timeout_ms) {
  return core_->fetch(at, offset, timeout_ms);
}

}  // namespace bloomring::kafka
