// The log of a replay on Kafka: topics of any cluster, read in no group and without commits there.
//
// Threading: one thread, which waits for brokers that do not answer: for half a minute at a start.
// Errors: as ReplayLog.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "pipeline/jobs/replay/replay_log.h"
#include "pipeline/kafka/consumer/assigned_consumer.h"
#include "pipeline/kafka/settings.h"

namespace bloomring {

class KafkaReplayLog final : public ReplayLog {
 public:
  // `clock` outlives the log.
  KafkaReplayLog(kafka::ClientSettings kafka, const Clock& clock) : kafka_(std::move(kafka)), clock_(clock) {}

  Result<std::vector<kafka::TopicPartition>> partitions(std::span<const std::string> topics) override;
  Result<std::vector<LogEdges>> edges(std::span<const kafka::TopicPartition> partitions, const ReplayBound& from,
                                      const ReplayBound& until) override;
  Result<std::vector<std::unique_ptr<Source>>> open(std::span<const Start> starts) override;
  Status poll() override;

 private:
  Result<std::vector<LogEdges>> ask_edges(kafka::AssignedConsumer& consumer,
                                          std::span<const kafka::TopicPartition> partitions, const ReplayBound& from,
                                          const ReplayBound& until);

  const kafka::ClientSettings kafka_;
  const Clock& clock_;
  std::unique_ptr<kafka::AssignedConsumer> consumer_;
  int64_t poll_at_ms_ = 0;
};

}  // namespace bloomring
