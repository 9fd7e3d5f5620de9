// The whole chain in one thread: the real tasks and operators over an in-memory log, stores that crash as real ones
// do, and a manual clock. Next to it an oracle: what each user played, was served and has forgotten (sim_oracle.h).
//
// Fault model: every task may crash at each fault point (base/faults/fault_point.h) and between steps, and comes back
// with its disk as it was flushed, or without it; the merge process takes what the store had not made durable with it;
// the filter store refuses for a while, is away for up to two laps, or goes back to a backup; the log misbehaves as
// sim_log.h says; partitions of user-events take nothing for a while;
// the topics of plays are replayed, by a job that crashes too;
// user-events is made again, loses its end to an unclean election, or its beginning to retention before
// it is merged, and the operator does what the refusals name (sim_lost.cc); processes start with other settings
// (sim_settings.h); somebody forges slot ends; the group takes partitions from ingest and gives them back; time passes
// in jumps, so that slots, laps and months turn; users go quiet; plays, serves and forgets come late, out of order and
// more than once, by topic and by call.
// Law: see check_* (sim_checks.cc). All randomness comes from the seed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "operators/merge_start.h"
#include "operators/window_start.h"
#include "pipeline/tasks/ingest_task.h"
#include "pipeline/tasks/merge_task.h"
#include "pipeline/tasks/replica_task.h"
#include "pipeline/tasks/window_task.h"
#include "serving/query/candidate_filter.h"
#include "state/period.h"
#include "tests/simulation/sim_clock.h"
#include "tests/simulation/sim_disk.h"
#include "tests/simulation/sim_ledger.h"
#include "tests/simulation/sim_log.h"
#include "tests/simulation/sim_oracle.h"
#include "tests/simulation/sim_order.h"
#include "tests/simulation/sim_replay.h"
#include "tests/simulation/sim_settings.h"
#include "tests/simulation/sim_tally.h"
#include "tests/support/delayed_writer.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_filter_store.h"

namespace bloomring::simulation {

// A crash at a fault point throws this.
struct Crash {};

class World {
 public:
  explicit World(uint64_t seed);
  ~World();

  // Lives for `rounds` rounds of random plays, steps, time and faults, checking the law on the way.
  void live(int rounds);
  // Ends all faults, lets everything be merged, and checks the law of the end.
  void settle();

  const Tally& tally() const { return tally_; }

 private:
  static constexpr int32_t kPartitions = 4;
  static constexpr int32_t kPlaysPartitions = 2;
  static constexpr int64_t kClocksOffMaxMs = Ledger::kAheadMaxMs;  // A fifth of an hour of the ring.
  int64_t clocks_off_max_ms() const { return clocks_go_wrong_ ? kClocksOffMaxMs : 0; }
  // A forget that a call has noted in a replica, and its offset in the log.
  struct Noted {
    int64_t offset;
    std::string user_key;
    Event event;
  };

  void produce();
  void produce_one();
  void burst();
  void leave_gap();
  void refuse(const std::string& bytes);
  void append_play(size_t said, const std::string& json, uint64_t plays_partition);
  void call();
  int64_t append_call(const UserKey& key, Event event);
  void step_all();
  void step_window(int32_t p);
  static void note(ByOffset& facts, Offset from, int64_t at_least);
  void step_merges();
  void step_ingest();
  bool all_ingested();
  void step_replica(int32_t p);
  void step_replay();
  void advance_clock();
  void strike();
  void rebalance_ingest();
  void restore_backup();
  void lose_batches();
  void forge();
  void stop_readers();
  void replace_log();
  void cut_log();
  void expire_log();
  size_t lose_unmerged(int32_t p, const WindowStartFacts& facts, bool resumes);
  void note_blind(int32_t p, Offset merged);
  Offset where_to_cut(int32_t p);
  Offset known_end(int32_t p) const;
  void begin_new_log();
  Result<bool> new_log();
  void leave_behind(int32_t p, const std::optional<MergedWatermark>& merged);
  void drop_offsets(int32_t p);
  void set_window_clock_off(size_t partition);
  void set_clocks_off(int64_t most_ms);

  std::unique_ptr<MemoryFilterStore> make_filters();
  SimSettings settings_of_start();
  void start_ingest();
  void assign_plays();
  void start_window(int32_t p);
  std::unique_ptr<PartitionWriter> take_over(int32_t p);
  void start_merges();
  MergeStart merge_start(int32_t p);
  void start_replica(int32_t p);
  void crash_ingest();
  void crash_window(int32_t p);
  void crash_merges();
  void crash_replica(int32_t p);
  // Runs the step; false when it crashed.
  bool survives(const std::function<Result<bool>()>& step);
  // The same for a task that ends by itself when it finds that the store went back to a backup.
  bool survives_a_restore(const std::function<Result<bool>()>& step, bool& outdated);

  void check_watermarks();
  void check_custody();
  void check_queries(int32_t p);
  void check_user(int32_t p, const std::string& user_key, const UserOracle& user);
  void check_collision(const std::string& user_key, const UserOracle& user, ItemHash item, PeriodIndex period);
  void check_all_in_log();
  void check_all_in_filters();
  void check_false_positives(int32_t p, const std::string& user_key);
  void check_complete(const FilterAnswer& answer, size_t acknowledged);
  void check_forget_time(int64_t time_ms) const;
  bool check_start(int32_t p);
  void check_ingest_commits();
  void check_drain_order();
  void read_new_records();
  void check_refused();
  size_t acknowledged_end(int32_t p) const;
  std::map<std::string, UserOracle> oracle_of(int32_t p, size_t end, bool of_replica = false) const;
  // The verdict of filters and forgets on an item, in the order of periods; nothing while the store is away.
  std::optional<bool> in_filters(const std::string& user_key, std::span<const PeriodIndex> periods, ItemHash item);

  Random random_;
  const bool store_far_ = random_() % 3 == 0;
  ManualClock clock_;  // The truth.
  SimClock ingest_clock_{clock_};
  SimClock broker_clock_{clock_};
  SimClock merge_clock_{clock_};
  SimClock serve_clock_{clock_};
  SimClock caller_clock_{clock_};
  Calendar calendar_;
  SimLog log_;
  const bool bursts_;  // A user plays hundreds of items at once, now and then.
  const bool logs_replaced_;
  const bool forger_;
  const bool leaders_go_;  // Partitions of user-events lose their leaders.
  const bool logs_cut_;
  const bool logs_expire_;
  const bool replays_;  // Somebody replays the topics of plays, now and then.
  bool settings_change_;
  const bool limits_;           // Brokers take records of a few hundred bytes only, and dead letters of a megabyte.
  const SimSettings settings_;  // That every process begins with.
  const RingConfig ring_;       // Of these.
  std::unique_ptr<MemoryFilterStore> filters_;
  std::vector<std::unique_ptr<SimDisk>> disks_;  // Of the window stage, by partition.

  std::unique_ptr<IngestTask> ingest_;
  std::unique_ptr<SimReplay> replay_;
  std::vector<std::unique_ptr<WindowTask>> windows_;
  std::vector<std::unique_ptr<MergeTask>> merges_;
  std::vector<std::unique_ptr<ReplicaTask>> replicas_;
  std::vector<std::shared_ptr<ReplicaPartition>> held_;
  std::unique_ptr<CandidateFilter> core_;
  uint32_t ring_slots_[kPartitions];       // Of the window processes, as they started last...
  std::vector<ServedItemsConfig> served_;  // ...and of the replicas.
  double false_positive_rate_max_ = filter::Policy().false_positive_rate;
  int ingest_stalled_ = 0;  // For so many rounds.
  int windows_paused_ = 0;
  int replica_stalled_[kPartitions] = {};  // For so many rounds.
  int merges_paused_ = 0;

  Ledger ledger_;
  std::vector<LoggedRecord> logged_[kPartitions];     // user-events, as far as it was decoded.
  std::map<std::string, uint64_t> refused_;           // By Ledger::dead_name: dead-lettered so often at least.
  std::vector<Noted> noted_[kPartitions];             // In the replicas that run.
  std::vector<EarlierRecord> before_[kPartitions];    // In the logs before this one, or in ends that it lost.
  bool made_anew_ = false;                            // There was a log before.
  size_t logged_at_restore_[kPartitions] = {};        // Records that the log had when the store last went back.
  // See LogFacts.
  size_t clock_wrong_from_[kPartitions];
  BlindStarts blind_[kPartitions];
  ByOffset replica_hours_[kPartitions];
  std::set<size_t> replica_blind_[kPartitions];  // Where replicas began behind records that nobody had merged.
  DrainOrder drains_[kPartitions];
  size_t letters_seen_ = 0;
  std::vector<int64_t> watermark_floor_;
  std::vector<int64_t> committed_floor_;
  std::vector<int64_t> window_clock_off_ms_;
  const bool clocks_go_wrong_;
  MemoryFilterStore::Rows backup_;
  bool window_outdated_[kPartitions] = {};  // The store went back, and the task has not ended by it yet.
  bool replica_outdated_[kPartitions] = {};
  bool faults_ = true;
  Tally tally_;
};

}  // namespace bloomring::simulation
