// Where jobs are kept, as their runner and `bloomring jobs` see it. Kafka implements it (kafka_job_board.h), and a map
// in memory in tests.
//
// Guarantees: a record that `write` returned ok for is durable, and every later `refresh`, of any process, brings it.
// Records of a key are read in the order in which they were written.
// Threading: one thread.
// Errors: kRetry when brokers do not answer; kInvalid when they refuse.
#pragma once

#include <string>

#include "base/result.h"
#include "pipeline/jobs/job_book.h"

namespace bloomring {

class JobBoard {
 public:
  virtual ~JobBoard() = default;
  // Reads everything that was written before the call, and waits for it.
  virtual Status refresh() = 0;
  // Reads what has come in the meantime. Waits for nothing.
  virtual Status poll() = 0;
  virtual const JobBook& book() const = 0;
  // Writes one record, and waits until it is durable. An empty value removes the key.
  virtual Status write(const std::string& key, const std::string& value) = 0;
};

}  // namespace bloomring
