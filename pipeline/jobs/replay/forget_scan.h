// The first pass of a replay: reads a log from the begin of the range to the end of the log, and notes its forgets.
// Writes nothing.
//
// Where the range ends at a time, this pass also finds its end: behind the last record that is older. (Brokers tell the
// first record that is not older. Producers stamp records, so one whose clock is ahead would cut off all that follow.)
//
// Records that cannot be read are passed over: the second pass refuses those of the range.
// Threading: one thread.
// Errors: those of the log and of HistoryForgets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
             HistoryForgets& forgets, std::optional<int64_t> until_ms = std::nullopt);

  // `part` outlives the scan; `finish` moves its end.
  void add_source(ReplayPart& part, Offset end, std::unique_ptr<Source> source);
  // Reads at most so many records. Returns how many it read.
  Result<uint64_t> step(uint64_t records_max, int64_t now_ms);
  // Everything was read. Destroys the sources.
  bool finish();

 private:
  struct Input {
    ReplayPart* part;
    Offset end;
    Offset until;  // Behind the last record that is older than the time.
    std::unique_ptr<Source> source;
    bool ended() const { return source->position() >= end; }
  };
  Status take(const Input& input, const LogRecord& record, int64_t now_ms);
  Status take_block(const Input& input, const LogRecord& record);

  PlayParser parser_;
  const IngestTaskConfig::Form form_;
  const uint32_t block_partitions_;
  HistoryForgets& forgets_;
  const std::optional<int64_t> until_ms_;
  std::vector<Input> inputs_;
};

}  // namespace bloomring
