// The first pass of a replay: reads a log from the begin of the range to the end of the log, and notes its forgets.
// Writes nothing.
//
// Records that cannot be read are passed over: the second pass refuses those of the range.
// Threading: one thread.
// Errors: those of the log and of HistoryForgets.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "pipeline/io/io.h"
#include "pipeline/jobs/replay/history_forgets.h"
#include "pipeline/jobs/replay/replay_range.h"
#include "pipeline/tasks/ingest_task.h"
#include "schemas/json/play_json.h"

namespace bloomring {

class ForgetScan {
 public:
  // `form` and `block_partitions` as of IngestTaskConfig. `forgets` outlives the scan.
  ForgetScan(const PlayMapping& mapping, IngestTaskConfig::Form form, uint32_t block_partitions,
             HistoryForgets& forgets);

  void add_source(PartitionId partition, Offset end, std::unique_ptr<Source> source);
  // Reads at most so many records. Returns how many it read.
  Result<uint64_t> step(uint64_t records_max, int64_t now_ms);
  // Everything was read. Destroys the sources.
  bool finish();

 private:
  struct Input {
    PartitionId partition;
    Offset end;
    std::unique_ptr<Source> source;
    bool ended() const { return source->position() >= end; }
  };
  Status take(const Input& input, const LogRecord& record, int64_t now_ms);
  Status take_block(const Input& input, const LogRecord& record);

  PlayParser parser_;
  const IngestTaskConfig::Form form_;
  const uint32_t block_partitions_;
  HistoryForgets& forgets_;
  std::vector<Input> inputs_;
};

}  // namespace bloomring
