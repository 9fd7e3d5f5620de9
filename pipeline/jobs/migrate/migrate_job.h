// The job `migrate`: the sorted sets of a site's old store become plays in user-events, with the times of their scores.
//
//   KeyFeed --> sets, some at a time --> a page of each --> plays --> event blocks of one user --> user-events
//      ^                                    |  refused, expired: counted          |
//      +------------- release --------------+-------- acknowledged ---------------+
//
// With marks, a last block of each set has its marks as plays. It is sent when all blocks of the set are acknowledged,
// so whoever reads the marks in the log has read the plays (docs/decisions/0064-a-migrated-set-is-marked-by-plays.md).
//
// The plays take the way of all plays from there: replicas show them at once, the window stage collects them, the merge
// stage unites them with the filters. So a migrated play obeys forgets, expires and is counted as a live one is, and a
// set may be migrated twice, or while its site goes on writing to both stores. The old store is only read.
//
// Guarantees: the position covers sets all of whose plays are acknowledged. A set of any size takes the memory of a
// page. A play that is older than what filters keep is counted and not written.
// Threading: one thread.
// Errors: as Job. kRetry while the old store or the brokers are away.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/io/io.h"
#include "pipeline/jobs/job.h"
#include "pipeline/jobs/migrate/found_file.h"
#include "pipeline/jobs/migrate/key_feed.h"
#include "pipeline/jobs/migrate/key_source.h"
#include "pipeline/jobs/migrate/refusal_counts.h"
#include "schemas/event_block.h"
#include "schemas/legacy/legacy_layout.h"
#include "state/legacy/legacy_set_cursor.h"
#include "state/period.h"
#include "state/redis/redis_client.h"

namespace bloomring {

// The users of one of several jobs that share the work: those whose hash leaves this remainder.
struct UserShare {
  uint32_t index = 0;
  uint32_t count = 1;
  bool has(uint64_t user_hash) const { return user_hash % count == index; }
  std::string text() const { return std::to_string(index) + "/" + std::to_string(count); }
};

struct MigrateConfig {
  std::string events_topic;
  uint32_t partition_count = 1;
  size_t block_events = 4096;
  size_t page_members = 1000;
  size_t sets_at_once = 64;
  UserShare share;
  // Marks each set behind its plays, for queries that read the old store through. 0: no marks. Otherwise the error of
  // answers (schemas/legacy/migrated_marks.h).
  double marks_false_positive_rate = 0;
  JobParameters parameters;
  std::vector<JobPlan::Fact> facts;  // Of the plan: where the old store is, and where the plays go.
};

// All outlive the job, and are its own.
struct MigrateParts {
  const LegacyLayout& layout;
  RedisClient& client;
  KeySource& keys;
  const Calendar& calendar;
  FoundFile& refused;
  // Makes the sink at `begin`, so that a plan asks no broker.
  std::function<Result<Sink*>()> open_sink;
  int64_t now_ms = 0;  // Of the plan.
};

class MigrateJob final : public Job {
 public:
  MigrateJob(MigrateConfig config, MigrateParts parts);

  std::string_view kind() const override { return "migrate"; }
  std::string_view unit() const override { return "sets"; }
  std::string_view rate_unit() const override { return "plays"; }
  JobParameters parameters() const override { return config_.parameters; }
  Result<JobPlan> plan() override;
  Status begin(const JobStart& start) override;
  Result<JobStep> step(uint64_t units_max, int64_t now_ms) override;
  Result<bool> settle(int64_t now_ms) override;
  std::string position() const override { return feed_.position(); }
  JobProgress progress() const override { return {sets_, total_}; }
  JobCounts counts() const override;
  bool differences() const override { return refused_.any(); }

 private:
  struct OpenSet {
    LegacySet set;
    LegacySetCursor cursor;
    uint64_t user_hash;
  };
  // An estimate for all sets, from a sample of them.
  struct Sample {
    uint64_t sets = 0;
    uint64_t members = 0;
    RefusalCounts refused;
  };

  Result<JobStep> work(uint64_t units_max, int64_t now_ms);
  Status take_acks();
  void mark_sets(int64_t now_ms);
  Status send_unsent();
  void open_sets(size_t sets_max);
  Result<uint64_t> read_pages(size_t sets_max, int64_t now_ms);
  Result<uint64_t> take_answer(OpenSet& open, RedisAnswer answer, int64_t now_ms, bool& more);
  void take_page(const OpenSet& open, const std::vector<LegacyMember>& page, int64_t now_ms);
  void close_block(uint64_t step, PartitionId partition);
  void refuse(const std::string& key, LegacyRefusal refusal, const LegacyMember* member = nullptr);
  size_t sets_for(uint64_t units_max) const;
  Result<std::vector<std::string>> choose_sample(Sample& sample) const;
  Status look_at_sets(const std::vector<std::string>& keys, Sample& sample) const;

  const MigrateConfig config_;
  const MigrateParts parts_;
  KeyFeed feed_;
  Sink* sink_ = nullptr;
  std::deque<OpenSet> open_;  // Being read.
  EventBlockBuilder builder_;  // Empty between two pages.
  struct Unsent {
    OutRecord record;
    uint64_t block;
  };
  std::deque<Unsent> unsent_;
  std::map<uint64_t, uint64_t> blocks_;  // Not acknowledged: number, step.
  uint64_t next_block_ = 0;
  // Read, and waiting for the acknowledgements of all blocks below this number.
  struct UnmarkedSet {
    LegacySet set;
    uint64_t user_hash;
    uint64_t blocks_end;
  };
  std::deque<UnmarkedSet> unmarked_;
  std::vector<uint64_t> acks_;
  uint64_t total_ = 0;
  uint64_t sets_ = 0;
  uint64_t pages_ = 0;    // Read by this process...
  uint64_t members_ = 0;  // ...and the members in them.
  uint64_t plays_ = 0;
  uint64_t expired_ = 0;
  uint64_t marked_ = 0;
  RefusalCounts refused_;
};

}  // namespace bloomring
