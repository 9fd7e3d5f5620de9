// A dead letter of a reason, for the tests of selections and tables.
#pragma once

#include <string>

#include "pipeline/letters/letter.h"

namespace bloomring::testing {

inline DeadRecord dead(const std::string& reason, int64_t log_time_ms, const std::string& topic = "plays",
                       int32_t partition = 0) {
  Letter letter;
  letter.reason = reason;
  letter.topic = topic;
  letter.partition = PartitionId(partition);
  return {.log_time_ms = log_time_ms, .bytes = 10, .letter = letter};
}

}  // namespace bloomring::testing
