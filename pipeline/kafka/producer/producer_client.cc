#include "pipeline/kafka/producer/producer_client.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "base/log.h"
#include "pipeline/kafka/client.h"
#include "pipeline/kafka/lookup.h"
#include "pipeline/kafka/statistics.h"

namespace bloomring::kafka {
namespace {

constexpr int kDrainTimeoutMs = 100;
// Reports of purged records come at once; the bound is for a client that is stuck.
constexpr int kPurgeRounds = 100;
// Memory of a queued record without its payload. Client settings divide the queue's bound in bytes by it to get the
// bound in records.
constexpr size_t kRecordBytes = 512;

std::string place(const std::string& topic, int32_t partition) {
  return to_string(TopicPartition{topic, PartitionId(partition)});
}

HeadersHandle make_headers(const OutRecord& record) {
  HeadersHandle headers(rd_kafka_headers_new(record.headers.size()));
  for (const auto& [name, value] : record.headers) {
    rd_kafka_header_add(headers.get(), name.data(), static_cast<ssize_t>(name.size()), value.data(),
                        static_cast<ssize_t>(value.size()));
  }
  return headers;
}

// Purged: the client is being destroyed, and the record may be in the log or not.
bool was_purged(rd_kafka_resp_err_t error) {
  return error == RD_KAFKA_RESP_ERR__PURGE_QUEUE || error == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT;
}

// Errors of one record alone: others can be written to the same topic.
bool refuses_record(rd_kafka_resp_err_t error) {
  return error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE || error == RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP;
}

Status status_of(const rd_kafka_message_t& message) {
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  const std::string why = "cannot write to " + place(rd_kafka_topic_name(message.rkt), message.partition) + ": " +
                          rd_kafka_err2str(message.err);
  return was_purged(message.err) ? retry(why) : fatal(why);
}

Result<WrittenPlace> outcome_of(const rd_kafka_message_t& message) {
  if (refuses_record(message.err)) return bad_record(status_of(message).message());
  BLOOMRING_TRY(status_of(message));
  if (message.offset < 0) {
    return retry("the broker did not report the offset of a record that it wrote to " +
                 place(rd_kafka_topic_name(message.rkt), message.partition));
  }
  rd_kafka_timestamp_type_t type;
  return WrittenPlace{Offset(message.offset), rd_kafka_message_timestamp(&message, &type)};
}

// The broker's timestamp; 0 if it did not stamp the record.
int64_t stamp_of(const rd_kafka_message_t& message) {
  rd_kafka_timestamp_type_t type;
  const int64_t time_ms = rd_kafka_message_timestamp(&message, &type);
  return type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME ? time_ms : 0;
}

// Passes the reports of one event to their sinks. Consecutive reports mostly belong to the same sink.
class Reports {
 public:
  ~Reports() { pass_on(); }

  void add(const rd_kafka_message_t& message, std::unique_ptr<InFlight> in_flight) {
    if (in_flight->written) return in_flight->written(outcome_of(message));
    if (in_flight->acks != acks_) pass_on();
    acks_ = std::move(in_flight->acks);
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      newest_ms_ = std::max(newest_ms_, stamp_of(message));
      return tickets_.push_back(in_flight->ticket);
    }
    acks_->fail(status_of(message));
  }

 private:
  void pass_on() {
    if (!tickets_.empty()) acks_->add(tickets_, newest_ms_);
    tickets_.clear();
    newest_ms_ = 0;
  }

  int64_t newest_ms_ = 0;
  std::shared_ptr<AckList> acks_;  // Of the records in tickets_; shared as InFlight is.
  std::vector<uint64_t> tickets_;
};

}  // namespace

Result<std::unique_ptr<ProducerClient>> ProducerClient::create(const ClientSettings& settings) {
  BLOOMRING_TRY_ASSIGN(ConfHandle conf, producer_conf(settings));
  rd_kafka_conf_set_events(conf.get(), RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_STATS);
  BLOOMRING_TRY_ASSIGN(ClientHandle client, make_client(std::move(conf), RD_KAFKA_PRODUCER));
  return std::unique_ptr<ProducerClient>(new ProducerClient(settings, std::move(client)));
}

ProducerClient::ProducerClient(const ClientSettings& settings, ClientHandle client)
    : bootstrap_(settings.bootstrap),
      queue_(static_cast<int64_t>(settings.send_memory_bytes / 2)),
      client_(std::move(client)),
      reports_(rd_kafka_queue_get_main(client_.get())),
      drain_thread_([this] { drain(); }) {}

ProducerClient::~ProducerClient() {
  BLOOMRING_CHECK(live_sinks == 0, "the producer is destroyed while a sink is still there");
  stopping_ = true;
  rd_kafka_queue_yield(reports_.get());
  drain_thread_.join();
  if (in_flight_ > 0) log_warning("kafka: records are dropped unsent", {{"records", in_flight_.load()}});
  rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  for (int round = 0; in_flight_ > 0 && round < kPurgeRounds; ++round) drain_one(kDrainTimeoutMs);
}

Result<const ProducerClient::Topic*> ProducerClient::topic(const std::string& name) {
  const std::lock_guard lock(topics_mutex_);
  if (const auto known = topics_.find(name); known != topics_.end()) return &known->second;
  // Looked up before the handle is made: making it asks by name, which creates the topic on some brokers. The handle
  // then gets its partitions from the client's cache, so that the first record does not wait for them.
  BLOOMRING_TRY_ASSIGN(const auto found,
                       describe_topics(client_.get(), bootstrap_, std::span(&name, 1), kLookupTimeoutMs));
  if (!found.front().exists) return fatal("cannot write to topic " + name + ": it does not exist, or may not be seen");
  TopicHandle handle(rd_kafka_topic_new(client_.get(), name.c_str(), nullptr));
  if (!handle) return fatal("cannot write to topic '" + name + "': " + rd_kafka_err2str(rd_kafka_last_error()));
  const int32_t partitions = found.front().partitions;
  auto queued = std::make_unique<std::atomic<int64_t>[]>(static_cast<size_t>(partitions));
  return &topics_.emplace(name, Topic{name, std::move(handle), partitions, std::move(queued)}).first->second;
}

Status ProducerClient::send(const Topic& topic, const OutRecord& record, const std::shared_ptr<AckList>& acks,
                            uint64_t ticket) {
  auto in_flight = std::make_unique<InFlight>(InFlight{.acks = acks, .ticket = ticket});
  Status taken = take(topic, record, in_flight);
  return taken.code() == Code::kBadRecord ? fatal(taken.message()) : taken;
}

void ProducerClient::write(const Topic& topic, const OutRecord& record, Written written) {
  auto in_flight = std::make_unique<InFlight>(InFlight{.written = std::move(written)});
  Status taken = take(topic, record, in_flight);
  if (!taken.ok()) in_flight->written(std::move(taken));
}

Status ProducerClient::take(const Topic& topic, const OutRecord& record, std::unique_ptr<InFlight>& in_flight) {
  const int32_t partition = record.partition.value;
  // librdkafka would return "unknown partition"; this message has the number of partitions.
  if (partition < 0 || partition >= topic.partitions) {
    return fatal("cannot write to " + place(topic.name, partition) + ": the topic has " +
                 std::to_string(topic.partitions) + " partitions");
  }
  in_flight->queued = &topic.queued[static_cast<size_t>(partition)];
  in_flight->queued_bytes = static_cast<int64_t>(record.key.size() + record.value.size() + kRecordBytes);
  if (!queue_.take(*in_flight->queued, in_flight->queued_bytes))
    return retry("the send queue is full, or has no more room for " + place(topic.name, partition));
  ++in_flight_;
  const auto error = produce(topic, record, in_flight.get());
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    static_cast<void>(in_flight.release());  // pass_on_reports takes it back.
    return {};
  }
  queue_.give_back(*in_flight->queued, in_flight->queued_bytes);
  note_reported(1);
  if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) return retry("the send queue is full");
  const std::string why = "cannot write to " + place(topic.name, partition) + ": " + rd_kafka_err2str(error);
  return refuses_record(error) ? bad_record(why) : fatal(why);
}

rd_kafka_resp_err_t ProducerClient::produce(const Topic& topic, const OutRecord& record, InFlight* in_flight) {
  const void* key = record.key.empty() ? nullptr : record.key.data();
  void* value = const_cast<char*>(record.value.data());
  if (record.headers.empty() && !record.time_ms) {
    const int refused = rd_kafka_produce(topic.handle.get(), record.partition.value, RD_KAFKA_MSG_F_COPY, value,
                                         record.value.size(), key, record.key.size(), in_flight);
    return refused == 0 ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_last_error();
  }
  HeadersHandle headers = make_headers(record);
  const auto error =
      rd_kafka_producev(client_.get(), RD_KAFKA_V_RKT(topic.handle.get()), RD_KAFKA_V_PARTITION(record.partition.value),
                        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_VALUE(value, record.value.size()),
                        RD_KAFKA_V_KEY(key, record.key.size()), RD_KAFKA_V_HEADERS(headers.get()),
                        RD_KAFKA_V_TIMESTAMP(record.time_ms.value_or(0)), RD_KAFKA_V_OPAQUE(in_flight), RD_KAFKA_V_END);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) static_cast<void>(headers.release());  // The record has taken them.
  return error;
}

void ProducerClient::drain() {
  while (!stopping_) drain_one(kDrainTimeoutMs);
}

void ProducerClient::drain_one(int timeout_ms) {
  EventHandle event(rd_kafka_queue_poll(reports_.get(), timeout_ms));
  if (!event) return;
  if (rd_kafka_event_type(event.get()) == RD_KAFKA_EVENT_STATS) {
    return take_statistics(client_.get(), rd_kafka_event_stats(event.get()));
  }
  if (rd_kafka_event_type(event.get()) != RD_KAFKA_EVENT_DR) return;
  const int64_t reports = pass_on_reports(event.get());
  event.reset();  // Frees the records' room in the queue before any sender learns of it.
  note_reported(reports);
}

int64_t ProducerClient::pass_on_reports(rd_kafka_event_t* event) {
  std::array<const rd_kafka_message_t*, 1024> messages;
  int64_t reports = 0, failures = 0;
  Reports out;
  while (const size_t count = rd_kafka_event_message_array(event, messages.data(), messages.size())) {
    for (const auto* message : std::span(messages.data(), count)) {
      std::unique_ptr<InFlight> in_flight(static_cast<InFlight*>(message->_private));
      queue_.give_back(*in_flight->queued, in_flight->queued_bytes);
      out.add(*message, std::move(in_flight));
      if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) ++failures;
    }
    reports += static_cast<int64_t>(count);
  }
  delivered_ += reports - failures;
  failed_ += failures;
  return reports;
}

void ProducerClient::note_reported(int64_t reports) {
  if (in_flight_.fetch_sub(reports) != reports) return;
  const std::lock_guard lock(idle_mutex_);
  idle_.notify_all();
}

// Does not use rd_kafka_flush, which would race with the drain thread for the reports.
Status ProducerClient::flush(int timeout_ms) {
  std::unique_lock lock(idle_mutex_);
  if (idle_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [this] { return in_flight_ == 0; })) return {};
  return retry(std::to_string(in_flight_) + " records are not written after " + std::to_string(timeout_ms) + " ms");
}

ProducerStats ProducerClient::stats() const {
  return {.in_flight = in_flight_, .delivered = delivered_, .failed = failed_};
}

}  // namespace bloomring::kafka
