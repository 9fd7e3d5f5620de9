// The logs of an installation, for putting letters back.
//
// Threading: one thread; what `write` was given is called on the producer's own thread.
// Errors: as LetterWorld.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "pipeline/jobs/letters/letter_world.h"
#include "pipeline/kafka/admin.h"
#include "pipeline/kafka/producer/producer.h"

namespace bloomring {

class KafkaLetterWorld final : public LetterWorld {
 public:
  // `record_bytes_max`: of a value that is put back. `clock` outlives the world.
  static Result<std::unique_ptr<KafkaLetterWorld>> create(const kafka::ClientSettings& kafka, std::string dead_topic,
                                                          size_t record_bytes_max, const Clock& clock);

  Result<std::vector<LetterRange>> held(std::optional<int64_t> since_ms) override;
  Result<std::unique_ptr<DeadRecords>> read(std::vector<LetterRange> ranges) override;
  Result<TargetTopic> target(const std::string& topic) override;
  Result<bool> has_original(const Letter& letter) override;
  Result<std::optional<kafka::FetchedRecord>> original(const Letter& letter) override;
  void write(const OutRecord& record, kafka::Written written) override;

 private:
  KafkaLetterWorld(kafka::ClientSettings kafka, std::string dead_topic, const Clock& clock)
      : kafka_(std::move(kafka)), dead_topic_(std::move(dead_topic)), clock_(clock) {}
  Status open(size_t record_bytes_max);
  // The ranges of the topic's partitions; empty for a topic that is not there.
  Result<const std::vector<kafka::PartitionFacts>*> log_of(const std::string& topic);

  const kafka::ClientSettings kafka_;
  const std::string dead_topic_;
  const Clock& clock_;
  std::unique_ptr<kafka::Admin> admin_;
  std::unique_ptr<kafka::Producer> producer_;
  std::unique_ptr<kafka::RecordFetch> fetch_;
  std::unique_ptr<LetterReader> opened_;  // By `held`, for `read`.
  std::map<std::string, std::vector<kafka::PartitionFacts>> logs_;
};

}  // namespace bloomring
