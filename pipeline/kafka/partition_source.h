// Internal to pipeline/kafka: one partition's queue as a Source.
//
// The queue is cut loose from the consumer's main queue when the source is made, which has to be before the partition
// is assigned. Backpressure is not reading: librdkafka stops fetching once the queue is at its bound.
// Threading: as Source; made and destroyed while the client lives (the client's owner counts them).
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "pipeline/io.h"
#include "pipeline/kafka/handle.h"
#include "pipeline/kafka/partition.h"

namespace bloomring::kafka {

class CommitBoard;

// What a source leans on; owned by the consumer.
struct SourceHost {
  rd_kafka_t* client = nullptr;
  std::string bootstrap;
  CommitBoard* commits = nullptr;  // None outside a group.
  std::atomic<int> live_sources{0};
};

class PartitionSource final : public Source {
 public:
  // `log_end` as last heard, or -1.
  PartitionSource(SourceHost& host, TopicPartition at, Offset log_end);
  ~PartitionSource() override;

  Result<std::optional<LogRecord>> poll() override;
  bool at_end() const override;
  bool lost_position() const override { return lost_position_; }
  Offset log_start() const override;
  Offset log_end() const override;
  void commit(Offset next) override;

 private:
  Result<std::optional<LogRecord>> on_error();
  Status lose_position();

  SourceHost& host_;
  const TopicPartition at_;
  const Offset first_log_end_;
  QueueHandle queue_;
  MessageHandle message_;  // What the last record's views point into.
  bool lost_position_ = false;
  int64_t end_seen_at_ = -1;  // Offset at which the broker had nothing more, while nothing came since; else -1.
};

}  // namespace bloomring::kafka
