// Internal to pipeline/kafka: the producer's client handle, its topics, and the thread that drains delivery reports.
//
// Every record in flight has an InFlight, made when the record is taken and destroyed with its report. It names the
// receiver of the report: a function, or a sink's ack list, which it keeps alive, so that the sink may be destroyed
// first.
// Threading: thread safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "pipeline/io/io.h"
#include "pipeline/kafka/handle.h"
#include "pipeline/kafka/producer/ack_list.h"
#include "pipeline/kafka/producer/producer_stats.h"
#include "pipeline/kafka/producer/written.h"
#include "pipeline/kafka/settings.h"
#include "pipeline/kafka/shared_bound.h"

namespace bloomring::kafka {

struct InFlight {
  std::shared_ptr<AckList> acks = {};  // Shared: the sink may end before the report. Null: calls `written`.
  uint64_t ticket = 0;
  Written written = {};
  std::atomic<int64_t>* queued = nullptr;  // The partition's bytes in flight; queued_bytes is this record's part.
  int64_t queued_bytes = 0;
};

class ProducerClient {
 public:
  // A topic that was looked up. Lives as long as the client.
  struct Topic {
    std::string name;
    TopicHandle handle;
    int32_t partitions;
    std::unique_ptr<std::atomic<int64_t>[]> queued;  // By partition: bytes in flight.
  };

  static Result<std::unique_ptr<ProducerClient>> create(const ClientSettings& settings);
  ~ProducerClient();

  // The first call for a topic looks it up, which may take kLookupTimeoutMs. kFatal when it does not exist.
  Result<const Topic*> topic(const std::string& name);
  // As Sink::send.
  Status send(const Topic& topic, const OutRecord& record, const std::shared_ptr<AckList>& acks, uint64_t ticket);
  // As Producer::write.
  void write(const Topic& topic, const OutRecord& record, Written written);
  Status flush(int timeout_ms);
  ProducerStats stats() const;

  std::atomic<int> live_sinks{0};

 private:
  ProducerClient(const ClientSettings& settings, ClientHandle client);
  // Takes `in_flight` unless it fails.
  Status take(const Topic& topic, const OutRecord& record, std::unique_ptr<InFlight>& in_flight);
  rd_kafka_resp_err_t produce(const Topic& topic, const OutRecord& record, InFlight* in_flight);
  void drain();
  void drain_one(int timeout_ms);
  int64_t pass_on_reports(rd_kafka_event_t* event);
  void note_reported(int64_t reports);

  const std::string bootstrap_;
  SharedBound queue_;  // In bytes, of all partitions written.
  ClientHandle client_;
  QueueHandle reports_;
  std::mutex topics_mutex_;
  std::map<std::string, Topic> topics_;  // Guarded by topics_mutex_; grows only.
  std::atomic<int64_t> in_flight_{0};
  std::atomic<int64_t> delivered_{0};
  std::atomic<int64_t> failed_{0};
  std::mutex idle_mutex_;
  std::condition_variable idle_;  // in_flight_ became 0.
  std::atomic<bool> stopping_{false};
  std::thread drain_thread_;
};

}  // namespace bloomring::kafka
