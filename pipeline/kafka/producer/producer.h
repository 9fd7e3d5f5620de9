// Writes records. Each task sends through a Sink of its own and hears of its own records only; who has no thread of its
// own to ask from is called back.
//
//   task -> Sink::send -> librdkafka's queue -> broker -> delivery report -> drain thread -> the sink's ack list
//        <- Sink::poll_acks <-----------------------------------------------------------------'
//   call -> write -----> librdkafka's queue -> broker -> delivery report -> drain thread -> `written`
//
// Guarantees: a ticket comes back once the record is on all in-sync replicas (acks=all), and never before. A record
// is retried for as long as it takes (message.timeout.ms=0): outages delay acknowledgements and fill the queue, whose
// bound (send_memory_bytes) then holds the senders back with kRetry. A partition that nobody leads does not fill it for
// the others (shared_bound.h).
// Threading: thread safe, except that each Sink belongs to one thread. One thread of the producer's own drains
// delivery reports. A Sink may be destroyed while its records are in flight: they are still written, and nobody is
// told. Sinks are destroyed before the producer (checked).
// Failure: what can never be delivered (unknown topic, too large, not authorised) makes the sink's poll_acks kFatal,
// naming topic, partition and reason, for good; `write` hears it for the record alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "pipeline/io/io.h"
#include "pipeline/kafka/settings.h"

namespace bloomring::kafka {

class ProducerClient;

struct ProducerStats {
  int64_t in_flight = 0;  // Records taken and neither acknowledged nor failed.
  int64_t delivered = 0;
  int64_t failed = 0;
};

class Producer {
 public:
  // kInvalid when the settings are wrong. Asks no broker.
  static Result<std::unique_ptr<Producer>> create(const ClientSettings& settings);
  // Drops what is in flight: flush first.
  ~Producer();

  // kInvalid, saying what to do, unless the topic exists with exactly this many partitions; kRetry when no broker
  // answers within 5 s. Also spares the first record a look-up, so every topic that will be written to is verified at
  // the start. 0 partitions: any number will do.
  Status verify_topic(const std::string& topic, int32_t partitions_expected);

  std::unique_ptr<Sink> make_sink();

  // Writes one record. `written` is called exactly once, on the drain thread, or from within when the record is not
  // taken: with the record's place and time in the log once it is durable; kRetry when the queue is full, when the
  // producer is destroyed first (it may be there or not), or when the broker does not tell the place; kFatal when it
  // cannot be written at all. It must not wait, nor destroy the producer.
  struct Place {
    Offset offset;
    int64_t log_time_ms = 0;
  };
  using Written = std::function<void(Result<Place> place)>;
  void write(const OutRecord& record, Written written);

  // Waits until nothing is in flight. kRetry when that took longer than `timeout_ms`.
  Status flush(int timeout_ms);

  ProducerStats stats() const;

 private:
  explicit Producer(std::unique_ptr<ProducerClient> client);
  std::unique_ptr<ProducerClient> client_;
};

}  // namespace bloomring::kafka
