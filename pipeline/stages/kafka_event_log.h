// The event log on Kafka: what calls of the query service write becomes event blocks in user-events.
//
//   call -> append -> an event block of its own -> producer -> broker, on all in-sync replicas -> `durable`
//
// One call is one block: a call is at most 1,000 events of one user, and the client library packs records that come
// together into one request. The producer is the event log's own, so that a queue full of ingest's blocks never holds
// back a call.
// Guarantees: those of EventLog. A block is written at least once, also when its call has long been answered that it
// cannot be said; what a block says holds however often and in whichever order blocks come (event.h).
// Bounds: at most `in_flight_max` appends and `memory_bytes` of memory are under way; what comes beyond is kRetry at
// once. Brokers that are away therefore cost this much memory and nothing more. A partition without a leader keeps no
// more of the appends than it leaves to the others (kafka/shared_bound.h).
// Threading: as EventLog. `durable` runs on the producer's thread, on the caller's when nothing was taken, and on the
// destroying one for what is then still under way.
// Failure: kRetry as said; kFatal when the topic cannot be written to at all, for that call alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

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
  // kInvalid unless the topic exists with so many partitions; kRetry when no broker answers within 5 s.
  static Result<std::unique_ptr<KafkaEventLog>> create(const KafkaEventLogConfig& config,
                                                       kafka::ClientSettings settings);

  void append(const UserKey& user_key, std::span<const Event> events, Durable durable) override;

  // Waits until nothing is under way. kRetry when that took longer than `timeout_ms`.
  Status flush(int timeout_ms) { return producer_->flush(timeout_ms); }
  int64_t in_flight() const { return appends_.all(); }

 private:
  KafkaEventLog(const KafkaEventLogConfig& config, std::unique_ptr<kafka::Producer> producer)
      : config_(config),
        appends_(config.in_flight_max),
        of_partition_(std::make_unique<std::atomic<int64_t>[]>(config.partition_count)),
        producer_(std::move(producer)) {}

  const KafkaEventLogConfig config_;
  kafka::SharedBound appends_;
  const std::unique_ptr<std::atomic<int64_t>[]> of_partition_;  // Of appends_.
  std::unique_ptr<kafka::Producer> producer_;  // Last: what is under way is told while the rest is still there.
};

}  // namespace bloomring
