// The event log on Kafka: turns the writes of query service calls into event blocks in user-events.
//
//   call -> append -> an event block of its own -> producer -> broker, on all in-sync replicas -> `durable`
//
// One call is one block: a call has at most 1,000 events of one user, and the client library packs records that arrive
// together into one request. The event log has its own producer, so a queue full of ingest's blocks never delays a
// call.
// Guarantees: those of EventLog. A block is written at least once, and may still be written after its call was
// answered with an error. Repeated or reordered blocks have the same effect (event.h).
// Log times are those of the brokers. The embedded broker gives none, and the machine's time replaces them. Event times
// cannot: a forget whose partition has told no log time yet takes its event time from this one.
// Bounds: at most `in_flight_max` appends and `memory_bytes` of memory are in flight; further appends fail with kRetry
// at once. While brokers are away, the cost is this memory and no more. A partition without a leader may hold at most
// as much of the bound as it leaves free for the others (kafka/shared_bound.h).
// Threading: as EventLog. `durable` runs on the producer's thread; on the caller's thread when the append was refused;
// and on the destroying thread for appends that are still in flight then.
// Errors: kRetry beyond the bounds; kFatal, for that call alone, when the topic cannot be written to at all.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "pipeline/kafka/producer/producer.h"
#include "pipeline/kafka/shared_bound.h"
#include "serving/service/event_log.h"

namespace bloomring {

struct KafkaEventLogConfig {
  std::string topic;
  uint32_t partition_count = 1;
  int64_t in_flight_max = 4'096;  // Appends.
  size_t memory_bytes = 64 << 20;
};

class KafkaEventLog final : public EventLog {
 public:
  // kInvalid unless the topic exists with `partition_count` partitions; kRetry when no broker answers within 5 s.
  // `clock` outlives the log.
  static Result<std::unique_ptr<KafkaEventLog>> create(const KafkaEventLogConfig& config,
                                                       kafka::ClientSettings settings, const Clock& clock);

  void append(const UserKey& user_key, std::span<const Event> events, Durable durable) override;

  // Waits until no append is in flight. kRetry when that took longer than `timeout_ms`.
  Status flush(int timeout_ms) { return producer_->flush(timeout_ms); }
  int64_t in_flight() const { return appends_.all(); }

 private:
  KafkaEventLog(const KafkaEventLogConfig& config, const Clock& clock, std::unique_ptr<kafka::Producer> producer)
      : config_(config),
        clock_(clock),
        appends_(config.in_flight_max),
        of_partition_(std::make_unique<std::atomic<int64_t>[]>(config.partition_count)),
        producer_(std::move(producer)) {}

  const KafkaEventLogConfig config_;
  const Clock& clock_;
  kafka::SharedBound appends_;
  const std::unique_ptr<std::atomic<int64_t>[]> of_partition_;  // Of appends_.
  std::unique_ptr<kafka::Producer> producer_;  // Last: its destructor calls `durable` and needs the rest.
};

}  // namespace bloomring
