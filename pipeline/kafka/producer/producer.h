// Writes records. Each task sends through its own Sink and gets acknowledgements of its own records only. A caller
// without a thread of its own gets a callback.
//
//   task -> Sink::send -> librdkafka's queue -> broker -> delivery report -> drain thread -> the sink's ack list
//        <- Sink::poll_acks <-----------------------------------------------------------------'
//   call -> write -----> librdkafka's queue -> broker -> delivery report -> drain thread -> `written`
//
// Guarantees: a ticket comes back once the record is on all in-sync replicas (acks=all), and never before. A record is
// retried for as long as it takes (message.timeout.ms=0): outages delay acknowledgements and fill the queue; at its
// bound (send_memory_bytes) senders get kRetry. A partition without a leader cannot exhaust the queue for the others
// (shared_bound.h).
// Threading: thread safe, except that each Sink belongs to one thread. The producer's own thread drains delivery
// reports. A Sink may be destroyed while its records are in flight: they are still written, without acknowledgement.
// Sinks are destroyed before the producer (checked).
// Errors: after a record that can never be delivered (unknown topic, too large, not authorised) the sink's poll_acks
// always returns kFatal, naming topic, partition and reason; `written` gets the failure of its record alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "pipeline/io/io.h"
#include "pipeline/kafka/producer/producer_stats.h"
#include "pipeline/kafka/producer/written.h"
#include "pipeline/kafka/settings.h"

namespace bloomring::kafka {

class ProducerClient;

class Producer {
 public:
  // kInvalid when the settings are wrong. Asks no broker.
  static Result<std::unique_ptr<Producer>> create(const ClientSettings& settings);
  // Drops records in flight: flush first.
  ~Producer();

  // kInvalid, with the remedy, unless the topic exists with exactly this many partitions; kRetry when no broker
  // answers within 5 s. Also saves the first record a lookup, so verify every topic to be written at the start. 0
  // partitions: any number.
  Status verify_topic(const std::string& topic, int32_t partitions_expected);
  // The number of partitions when the topic was first looked up, which may wait as `verify_topic` does. kFatal when it
  // does not exist.
  Result<int32_t> partitions_of(const std::string& topic);

  std::unique_ptr<Sink> make_sink();

  // Writes one record. `written` is called exactly once: on the drain thread, or inside `write` when the record is not
  // taken. It must not wait, nor destroy the producer. It gets:
  // - the record's place and time in the log, once it is durable;
  // - kRetry when the queue is full, when the producer is destroyed first (the record may be in the log or not), or
  //   when the broker does not return the place;
  // - kBadRecord when the brokers refuse this record alone: it is too large, or its time is too far from now;
  // - kFatal when the record cannot be written at all for another reason.
  void write(const OutRecord& record, Written written);

  // Waits until nothing is in flight. kRetry when that took longer than `timeout_ms`.
  Status flush(int timeout_ms);

  ProducerStats stats() const;

 private:
  explicit Producer(std::unique_ptr<ProducerClient> client);
  std::unique_ptr<ProducerClient> client_;
};

}  // namespace bloomring::kafka
