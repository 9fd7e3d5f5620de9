// A Kafka broker inside this process, for `bloomring dev` and fast tests: librdkafka's mock cluster, which speaks
// the real protocol on loopback, to other processes (kcat) too.
//
// What it is not:
// - It forgets: a partition keeps its newest 5 MiB of (compressed) batches, or 100,000 batches, and drops the oldest
//   silently. Bound what is in flight, and read faster than you write.
// - It has no retention by time, no log append time, no look-up by time and no DescribeConfigs or CreateTopics; a
//   topic that anybody asks for by name springs into being with 4 partitions, so create all topics first.
// - Groups: the first rebalance takes 3 s, later ones session.timeout.ms - 1 s (the defaults would make that 29 s);
//   instance ids are ignored, and commits during a rebalance are refused. `settings` has what suits it.
//
// Threading: thread safe. Its data dies with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "pipeline/kafka/settings.h"

namespace bloomring::kafka {

class EmbeddedBroker {
 public:
  // Listens on free ports of 127.0.0.1. With `brokers` beyond 1 the first is what `set_down` is about.
  static Result<std::unique_ptr<EmbeddedBroker>> create(int brokers = 1);
  ~EmbeddedBroker();

  Status create_topic(const std::string& topic, int32_t partitions);

  // host:port, for kafka.bootstrap.
  std::string bootstrap() const;
  // Settings with this bootstrap and with timeouts that suit a mock: a session of 3 s, a fetch wait of 20 ms.
  ClientSettings settings() const;

  // FAULT: from now on the topic is answered for as unknown (by clients that look it up anew).
  void break_topic(const std::string& topic);
  // FAULT: the broker refuses connections until it is up again. Its data stays.
  void set_down(bool down);
  // Makes a broker (from 1) the leader of a partition.
  void move_leader(const std::string& topic, int32_t partition, int32_t broker);
  // FAULT: the next `requests` questions for a log's start or end are refused.
  void refuse_log_lookups(int requests);

 private:
  class Core;
  explicit EmbeddedBroker(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace bloomring::kafka
