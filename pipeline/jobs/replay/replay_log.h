// The log that a replay reads, as the job sees it: Kafka (kafka_replay_log.h), or the log of the simulation.
//
// Threading: one thread.
// Errors: kRetry when brokers do not answer; kInvalid for a topic that does not exist or may not be read.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/io/io.h"
#include "pipeline/jobs/replay/replay_range.h"
#include "pipeline/kafka/partition.h"

namespace bloomring {

class ReplayLog {
 public:
  virtual ~ReplayLog() = default;
  // All partitions of these topics.
  virtual Result<std::vector<kafka::TopicPartition>> partitions(std::span<const std::string> topics) = 0;
  // In the order of `partitions`.
  virtual Result<std::vector<LogEdges>> edges(std::span<const kafka::TopicPartition> partitions,
                                              const ReplayBound& from, const ReplayBound& until) = 0;
  struct Start {
    kafka::TopicPartition at;
    Offset offset;
  };
  // Begins to read, in the order of `starts`. The sources of an earlier call were destroyed before, and all are before
  // the log is.
  virtual Result<std::vector<std::unique_ptr<Source>>> open(std::span<const Start> starts) = 0;
  // To be called often while sources are read.
  virtual Status poll() = 0;
};

}  // namespace bloomring
