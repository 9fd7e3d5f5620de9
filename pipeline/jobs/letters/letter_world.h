// The logs that putting letters back touches: Kafka (kafka_letter_world.h), or those of a test.
// Threading: one thread, except that `written` may come from another one.
// Errors: kRetry when brokers do not answer in time; kInvalid when they refuse, or a topic is missing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/io/io.h"
#include "pipeline/kafka/consumer/record_fetch.h"
#include "pipeline/kafka/producer/written.h"
#include "pipeline/letters/letter.h"
#include "pipeline/letters/letter_reader.h"

namespace bloomring {

struct TargetTopic {
  int32_t partitions = 0;
  // As time_to_write takes them.
  std::optional<int64_t> kept_ms = {}, behind_max_ms = {};
};

class LetterWorld {
 public:
  virtual ~LetterWorld() = default;

  // The ranges of the topic of dead letters now, without the letters before `since_ms`.
  virtual Result<std::vector<LetterRange>> held(std::optional<int64_t> since_ms) = 0;
  // Called after `held`, once for each call of it.
  virtual Result<std::unique_ptr<DeadRecords>> read(std::vector<LetterRange> ranges) = 0;
  virtual Result<TargetTopic> target(const std::string& topic) = 0;
  // Whether the topic of the refused record still has its offset. False also for a topic that is gone.
  virtual Result<bool> has_original(const Letter& letter) = 0;
  // The refused record; nothing when it is gone.
  virtual Result<std::optional<kafka::FetchedRecord>> original(const Letter& letter) = 0;
  // As Producer::write.
  virtual void write(const OutRecord& record, kafka::Written written) = 0;
};

}  // namespace bloomring
