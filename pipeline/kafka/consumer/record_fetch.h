// Reads single records by their places, in no group and without commits: for records whose place another record names,
// such as the original of a dead letter that was cut.
//
// Guarantees: `fetch` returns the record at exactly this offset, whatever its size. Memory: that record, and what one
// fetch of the client brings with it.
// Threading: one thread. `fetch` blocks it for at most its timeout, and for some round trips.
// Errors: kRetry when the brokers do not answer in time; kInvalid when the user may not read the topic.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "pipeline/io/io.h"
#include "pipeline/kafka/partition.h"
#include "pipeline/kafka/settings.h"

namespace bloomring::kafka {

struct FetchedRecord {
  int64_t log_time_ms = -1;  // Negative: it has none.
  std::string key = {};
  std::string value = {};
  RecordHeaders headers = {};
};

class RecordFetch {
 public:
  // kInvalid when the settings are wrong. Asks no broker.
  static Result<std::unique_ptr<RecordFetch>> create(const ClientSettings& settings);
  ~RecordFetch();

  // Nothing: the log does not have the record. Retention or compaction removed it, or no record was ever there.
  // The partition exists: asking for another topic by name creates it on some brokers.
  Result<std::optional<FetchedRecord>> fetch(const TopicPartition& at, Offset offset, int timeout_ms);

 private:
  class Core;
  explicit RecordFetch(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace bloomring::kafka
