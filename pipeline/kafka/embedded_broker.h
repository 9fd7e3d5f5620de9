// A Kafka broker inside this process, for `bloomring dev` and fast tests: librdkafka's mock cluster, which speaks
// the real protocol on loopback, to other processes (kcat) too.
//
// Limits:
// - It drops data: a partition keeps its newest 5 MiB of (compressed) batches, or 100,000 batches, and drops the
//   oldest silently. Bound the records in flight, and read faster than you write.
// - It has no retention by time, no log append time, no look-up by time and no DescribeConfigs or CreateTopics; a
//   request for a topic by name creates it with 4 partitions, so create all topics first.
// - Groups: the first rebalance takes 3 s, later ones session.timeout.ms - 1 s (the defaults would make that 29 s);
//   instance ids are ignored, and commits during a rebalance are refused. `settings` returns suitable settings.
//
// Threading: thread safe. Its data is lost when it is destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "pipeline/kafka/settings.h"

namespace bloomring::kafka {

class EmbeddedBroker {
 public:
  // Listens on free ports of 127.0.0.1. With more than 1 of `brokers`, `set_down` acts on the first.
  static Result<std::unique_ptr<EmbeddedBroker>> create(int brokers = 1);
  ~EmbeddedBroker();

  Status create_topic(const std::string& topic, int32_t partitions);

  // host:port, for kafka.bootstrap.
  std::string bootstrap() const;
  // Settings with this bootstrap and with timeouts that suit a mock: a session of 3 s, a fetch wait of 20 ms.
  ClientSettings settings() const;

  // FAULT: from now on lookups of the topic return unknown (to clients that look it up again).
  void break_topic(const std::string& topic);
  // FAULT: the broker refuses connections until it is up again. Its data stays.
  void set_down(bool down);
  // Makes a broker (from 1) the leader of a partition.
  void move_leader(const std::string& topic, int32_t partition, int32_t broker);
  // FAULT: the broker refuses the next `requests` lookups of a log's start or end.
  void refuse_log_lookups(int requests);

 private:
  class Core;
  explicit EmbeddedBroker(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace bloomring::kafka
