// Reads the topic of dead letters up to the ends that it had when it was opened: by assignment, in no group, without
// commits.
//
//   open -> partitions, offsets_at -> begin -> next, next, ... -> done
//
// Memory: kQueueBytes of records that were fetched ahead, and the record that `next` returned.
// Threading: one thread.
// Errors: kRetry when no broker answers; kInvalid when the topic is missing or may not be read; kFatal when retention
// removed what was to be read next. Each names the topic.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "pipeline/kafka/consumer/assigned_consumer.h"
#include "pipeline/letters/letter.h"

namespace bloomring {

// Letters in the order of each partition: of a topic, or of a test.
class DeadRecords {
 public:
  virtual ~DeadRecords() = default;
  // Nothing: none is at hand now.
  virtual Result<std::optional<DeadRecord>> next() = 0;
  // Everything was returned.
  virtual bool done() const = 0;
  // Gives every record to `take`, or fails as it does. kRetry when none comes for `patience_ms`.
  virtual Status read_all(int64_t patience_ms, const std::function<Status(DeadRecord& record)>& take) = 0;
};

// The offsets [from, to) of a partition.
struct LetterRange {
  PartitionId partition;
  Offset from;
  Offset to;
  bool operator==(const LetterRange&) const = default;
};

class LetterReader final : public DeadRecords {
 public:
  static constexpr size_t kQueueBytes = 32 << 20;

  // `clock` outlives the reader.
  static Result<std::unique_ptr<LetterReader>> open(const kafka::ClientSettings& kafka, std::string topic,
                                                    const Clock& clock);
  ~LetterReader() override;

  // The offsets that each partition had at `open`.
  const std::vector<LetterRange>& partitions() const { return held_; }
  // The same without the letters that were written before `since_ms`.
  Result<std::vector<LetterRange>> partitions_since(int64_t since_ms);

  // Called once. Ranges begin within the log.
  Status begin(std::vector<LetterRange> ranges);
  Result<std::optional<DeadRecord>> next() override;
  bool done() const override { return open_.empty(); }
  Status read_all(int64_t patience_ms, const std::function<Status(DeadRecord& record)>& take) override;

 private:
  struct Part {
    LetterRange range;
    std::unique_ptr<Source> source;
  };
  LetterReader(std::string topic, const Clock& clock) : topic_(std::move(topic)), clock_(clock) {}
  Status find(const kafka::ClientSettings& kafka);
  Result<std::optional<DeadRecord>> next_of(Part& part);

  const std::string topic_;
  const Clock& clock_;
  std::unique_ptr<kafka::AssignedConsumer> consumer_;
  std::vector<LetterRange> held_;
  std::vector<Part> open_;  // Not read to their ends. Destroyed before the consumer.
  size_t turn_ = 0;
};

}  // namespace bloomring
