// The job `export`: what users play is written to the sorted sets of a site's old store, so that its old readers stay
// right: the way back.
//
//   topics of plays --> parse, as ingest does --> changes of sets, some thousand at a time --> old store
//          ^                                                                                      |
//          +------------------------ the position passes them <--------- acknowledged ------------+
//
// It reads the topics of plays, since only they have the ids of items, and judges records as ingest does: by the same
// mapping, with the same event times. It follows them until it is stopped, or has an end. Partitions that a topic gets
// meanwhile are read from their begin.
//
// A play is a member with its time; a later time is never replaced by an earlier one. A forget of an item, or of
// everything, removes what was played before it, and an older play that comes after it is not written
// (recent_forgets.h). Serves and skipped records are left out. A play that ingest would refuse counts by that reason;
// its dead letter is ingest's.
//
// Guarantees: the position covers records whose changes the old store has acknowledged. Changes that are written again
// after a kill leave the same sets.
// Fault points: export.read, export.written.
// Threading: one thread, which waits for servers.
// Errors: as Job. kRetry while the old store or the brokers are away. kFatal when retention has passed the position.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/user_ref.h"
#include "operators/ingest.h"
#include "pipeline/jobs/export/export_position.h"
#include "pipeline/jobs/export/recent_forgets.h"
#include "pipeline/jobs/job.h"
#include "pipeline/jobs/migrate/found_file.h"
#include "pipeline/jobs/replay/replay_log.h"
#include "schemas/json/play_json.h"
#include "schemas/legacy/legacy_layout.h"
#include "state/legacy/legacy_changes.h"

namespace bloomring {

struct ExportConfig {
  std::string brokers;              // For people.
  std::vector<std::string> topics;  // To be read.
  std::string from, until;          // As typed; see parse_bound and parse_export_end.
  PlayMapping mapping;
  LegacySetBounds bounds;
  JobParameters parameters;  // Of the layout.
  std::vector<JobPlan::Fact> facts;
};

// All outlive the job.
struct ExportSurroundings {
  const LegacyLayout& layout;
  RedisClient& client;
  ReplayLog& log;
  FoundFile& refused;
};

class ExportJob final : public Job {
 public:
  static constexpr uint64_t kBatchRecords = 2'000;       // Between two writes.
  static constexpr int64_t kLookForPartitionsMs = 60'000;

  // kInvalid when --from or --until cannot be read.
  static Result<std::unique_ptr<ExportJob>> create(ExportConfig config, ExportSurroundings around);

  std::string_view kind() const override { return "export"; }
  std::string_view unit() const override { return "records"; }
  std::string_view rate_unit() const override { return "records"; }
  JobParameters parameters() const override;
  Result<JobPlan> plan() override;
  Status begin(const JobStart& start) override;
  Result<JobStep> step(uint64_t units_max, int64_t now_ms) override;
  Result<bool> settle(int64_t now_ms) override;
  std::string position() const override { return encode_export(parts_); }
  JobProgress progress() const override;
  JobCounts counts() const override;
  bool differences() const override;

 private:
  struct Input {
    ExportPart& part;
    std::unique_ptr<Source> source;
  };

  ExportJob(ExportConfig config, ExportSurroundings around, ReplayBound from, ExportEnd end);
  Result<ExportParts> find_parts();
  Status check_parts();
  Status take_new_partitions();
  Status open_parts();
  Result<uint64_t> read(uint64_t records_max, int64_t now_ms);
  Result<uint64_t> read_input(Input& input, uint64_t records_max, int64_t now_ms);
  void take(const ExportPart& part, const LogRecord& record, int64_t now_ms);
  void take_event(const Play& play, int64_t time_ms, const ExportPart& part, const LogRecord& record);
  void refuse(const ExportPart& part, const LogRecord& record, std::string_view reason, const std::string& detail);
  Status write();
  bool ended() const;

  const ExportConfig config_;
  const ExportSurroundings around_;
  const ReplayBound from_;
  const ExportEnd end_;
  PlayParser parser_;
  LegacyChanges changes_;
  RecentForgets forgets_;
  ExportParts parts_;  // Keeps its places while inputs refer to them.
  std::vector<Input> inputs_;
  size_t first_input_ = 0;  // Of the next step: every partition has its turn.
  std::map<std::pair<std::string, std::string>, uint64_t> counts_;  // By name and reason.
  uint64_t plays_ = 0;       // Gathered...
  uint64_t forgets_taken_ = 0;  // ...with so many forgets.
  int64_t look_at_ms_ = 0;
};

}  // namespace bloomring
