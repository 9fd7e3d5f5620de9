// Internal to pipeline/kafka: one partition's queue as a Source.
//
// The queue is cut loose from the consumer's main queue when the source is made, which has to be before the partition
// is assigned. Backpressure is not reading: librdkafka stops fetching once the queue is at its bound.
//
// When a broker says that its log does not have the position, nothing comes until the consumer's Placement has decided:
// it is lost, or the log is read on from one record before it. Records that were returned before are dropped.
//
// A source that goes back has the Placement place it there in the same way. Its queue may still hold records from
// before that. They lie where the source had been, or one record before it, where an earlier placement began (its own,
// or one for another partition). The source drops them until the record that it went back to comes, or another one
// from between.
// Threading: as Source; made and destroyed while the client lives (the client's owner counts them).
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "pipeline/io/io.h"
#include "pipeline/kafka/consumer/placement.h"
#include "pipeline/kafka/handle.h"
#include "pipeline/kafka/partition.h"

namespace bloomring::kafka {

class CommitBoard;

// What a source leans on; owned by the consumer.
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
  Offset position() const override { return position_->next(); }
  bool at_end() const override;
  bool lost_position() const override { return position_->state() == Position::State::kLost; }
  Offset log_start() const override;
  Offset log_end() const override;
  void commit(Offset next) override;
  void go_back(Offset offset) override;

 private:
  // What tells a record from another one at its offset.
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
  // A record that was returned before: the same one, unless this is another log.
  Status compare_again();
  // Whether message_ is from before the source went back; resets back_from_ when it is not.
  bool from_before();
  Seen seen() const;

  SourceHost& host_;
  const std::shared_ptr<Position> position_;
  const Offset first_log_end_;
  QueueHandle queue_;
  MessageHandle message_;  // What the last record's views point into.
  std::optional<Seen> last_;
  // Set when the source goes back, until a record comes from there. Records from before lie at this offset or above.
  std::optional<Offset> back_from_;
  int placed_in_vain_ = 0;    // How often it was placed since it went back, and records from before came.
  int64_t end_seen_at_ = -1;  // Offset at which the broker had nothing more, while nothing came since; else -1.
};

}  // namespace bloomring::kafka
