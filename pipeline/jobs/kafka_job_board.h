// The board of jobs in Kafka: one compacted topic of one partition, PREFIX-jobs, where PREFIX is kafka.group_prefix.
// docs/decisions/0060-old-history-enters-as-plays.md says why it is no consumer group.
//
// The first job that executes creates the topic. Its records are small, and compaction keeps the last one of each key.
// Guarantees: as JobBoard. A record whose acknowledgement did not come in time may still arrive: nothing is written
// before it has, so records never change places.
// Threading: one thread.
// Errors: as JobBoard; a refresh or a write that brokers do not answer within 15 s is kRetry.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "pipeline/io/io.h"
#include "pipeline/jobs/job_board.h"
#include "pipeline/kafka/consumer/assigned_consumer.h"
#include "pipeline/kafka/producer/producer.h"
#include "pipeline/kafka/settings.h"

namespace bloomring {

struct KafkaJobBoardConfig {
  kafka::ClientSettings kafka;
  std::string group_prefix = "bloomring";
  int32_t replication = 3;  // Of the topic, where it is created.

  std::string topic() const { return group_prefix + "-jobs"; }
};

class KafkaJobBoard final : public JobBoard {
 public:
  enum class Missing : uint8_t {
    kIsEmpty,  // Without its topic the board is empty, and cannot be written.
    kIsMade,   // The topic is created.
  };
  // `clock` outlives the board.
  static Result<std::unique_ptr<KafkaJobBoard>> open(KafkaJobBoardConfig config, Missing missing, const Clock& clock);
  ~KafkaJobBoard() override;

  Status refresh() override;
  Status poll() override;
  const JobBook& book() const override { return book_; }
  Status write(const std::string& key, const std::string& value) override;

 private:
  KafkaJobBoard(KafkaJobBoardConfig config, const Clock& clock) : config_(std::move(config)), clock_(clock) {}
  Status find_topic(Missing missing);
  Status start_reading();
  Result<bool> read(Offset end);
  Result<bool> acknowledged();

  const KafkaJobBoardConfig config_;
  const Clock& clock_;
  bool there_ = false;
  JobBook book_;
  std::unique_ptr<kafka::AssignedConsumer> consumer_;
  std::unique_ptr<Source> source_;  // Goes before the consumer.
  std::unique_ptr<kafka::Producer> producer_;
  std::unique_ptr<Sink> sink_;  // Goes before the producer.
  uint64_t sent_ = 0;           // The ticket of the last record...
  bool in_flight_ = false;      // ...which is not acknowledged yet.
  std::vector<uint64_t> acks_;
};

}  // namespace bloomring
