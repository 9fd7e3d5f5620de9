// Internal to pipeline/kafka: one partition's queue as a Source.
//
// The source detaches the queue from the consumer's main queue when it is made, which must be before the partition is
// assigned. Backpressure: while the source does not read, librdkafka stops fetching at the bound of the queue.
//
// When a broker reports that its log does not have the position, nothing is returned until the consumer's
// PositionRecovery has decided: the position is lost, or reading goes on from one record before it. The source drops
// records that it returned before.
//
// After `go_back` the PositionRecovery places the source in the same way. Its queue may still hold old records: from
// the position before, or from one record before that, where an earlier placement began (its own, or one for another
// partition). The source drops them until the record at the new offset comes, or one between the new offset and the old
// records.
// Threading: as Source; made and destroyed while the client lives (the client's owner counts them).
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "pipeline/io/io.h"
#include "pipeline/kafka/consumer/position_recovery.h"
#include "pipeline/kafka/handle.h"
#include "pipeline/kafka/partition.h"

namespace bloomring::kafka {

class CommitBoard;

// The consumer's parts that a source uses; owned by the consumer.
struct SourceHost {
  rd_kafka_t* client = nullptr;
  CommitBoard* commits = nullptr;  // None outside a group.
  std::atomic<int> live_sources{0};
};

class PartitionSource final : public Source {
 public:
  // `log_end` as last heard, or -1.
  PartitionSource(SourceHost& host, std::shared_ptr<Position> position, Offset log_end);
  ~PartitionSource() override;

  Result<std::optional<LogRecord>> poll() override;
  RecordHeaders headers() const override;
  Offset position() const override { return position_->next(); }
  bool at_end() const override;
  bool lost_position() const override { return position_->state() == Position::State::kLost; }
  Offset log_start() const override;
  Offset log_end() const override;
  void commit(Offset next) override;
  void go_back(Offset offset) override;

 private:
  // Distinguishes a record from another one at the same offset.
  struct Seen {
    Offset offset;
    int64_t log_time_ms;
    size_t key_size, value_size;
    bool operator==(const Seen&) const = default;
  };
  const TopicPartition& at() const { return position_->at(); }
  Result<std::optional<LogRecord>> on_error();
  LogRecord take();
  void see_end();
  void doubt();
  // Compares a record with the one returned before at its offset: another one means another log.
  Status compare_again();
  // True when message_ is from before `go_back`; otherwise resets back_from_.
  bool from_before();
  Seen seen() const;

  SourceHost& host_;
  const std::shared_ptr<Position> position_;
  const Offset first_log_end_;
  QueueHandle queue_;
  MessageHandle message_;  // The owner of the last record's bytes.
  std::optional<Seen> last_;
  // Set when the source goes back, until a record comes from there. Records from before lie at this offset or above.
  std::optional<Offset> back_from_;
  int placed_in_vain_ = 0;    // Placements since `go_back` after which old records came.
  int64_t end_seen_at_ = -1;  // The end of the log, if nothing came since it was reached; else -1.
};

}  // namespace bloomring::kafka
