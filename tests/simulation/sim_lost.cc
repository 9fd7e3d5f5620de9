// Losses of user-events, of records that it had acknowledged: all of them, or its end; and the operator's cure.
#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>

#include "pipeline/tasks/unread_batches.h"
#include "schemas/store_key.h"
#include "tests/simulation/sim_world.h"

namespace bloomring::simulation {

namespace {

const std::string kEvents = "user-events";
const std::string kBatches = "user-batches";

}  // namespace

// Of every process but ingest.
void World::stop_readers() {
  filters_->fail_next(0);
  filters_->fail_until_ms(0);
  read_new_records();
  crash_merges();
  for (int32_t p = 0; p < kPartitions; ++p) {
    crash_window(p);
    crash_replica(p);
  }
  for (uint64_t pumps = random_() % 4; pumps > 0; --pumps) log_.pump();
  log_.lose_in_flight(kBatches);  // Nobody is there any more who sends it.
  read_new_records();
  check_drain_order();
}

// user-events is made again, and the operator runs `store new-log`. Records that no window stage handed on are lost,
// and nobody takes the new log for the old.
void World::replace_log() {
  stop_readers();
  for (int32_t p = 0; p < kPartitions; ++p) {
    log_.cut(kEvents, PartitionId(p), Offset(0));
    check_start(p);
  }
  begin_new_log();
  ++tally_.logs_replaced;
}

// An unclean election: the ends of some partitions' logs are gone, and later records take their offsets. Where a start
// is refused the operator runs `store new-log`.
void World::cut_log() {
  stop_readers();
  bool refused = false;
  for (int32_t p = 0; p < kPartitions; ++p) {
    const Offset end = where_to_cut(p);
    tally_.records_cut += static_cast<uint64_t>(log_.end(kEvents, PartitionId(p)).value - end.value);
    log_.cut(kEvents, PartitionId(p), end);
    leave_behind(p, {});
    refused |= !check_start(p);
  }
  ++tally_.logs_cut;
  if (!refused) return;
  ++tally_.cuts_refused;
  begin_new_log();
}

// Nobody can know of a cut above all that local state and store hold. Slot ends that stand unread may speak of more,
// where local state is lost or older: such a cut is left out.
Offset World::where_to_cut(int32_t p) {
  const Offset end = log_.end(kEvents, PartitionId(p));
  if (one_in(random_, 3)) return end;
  const int64_t most = one_in(random_, 3) ? end.value : std::min<int64_t>(end.value, 16);
  const Offset cut(end.value - static_cast<int64_t>(random_() % static_cast<uint64_t>(most + 1)));
  return known_end(p) > cut ? cut : std::max(cut, drains_[p].spoken_to());
}

// How far local state and store speak of the log.
Offset World::known_end(int32_t p) const {
  const std::optional<MergedWatermark> merged = *filters_->read_watermark(PartitionId(p));
  const std::optional<WindowState>& local = disks_[p]->current.state;
  Offset end = local ? local->applied : Offset(0);
  if (!merged) return end;
  for (const OffsetRange& range : merged->ahead) end = std::max(end, range.to);
  return std::max(end, merged->offset);
}

// The window stage was away for so long that records have left the log unread.
void World::expire_log() {
  stop_readers();
  for (int32_t p = 0; p < kPartitions; ++p) {
    const auto& records = log_.partition(kEvents, PartitionId(p));
    Offset& start = log_.start(kEvents, PartitionId(p));
    int64_t last = static_cast<int64_t>(records.size()) - 1;  // It stays: what follows it tells that it was read.
    while (last >= start.value && records[static_cast<size_t>(last)].gap) --last;
    if (last <= start.value || one_in(random_, 2)) continue;
    start = Offset(start.value + static_cast<int64_t>(random_() % static_cast<uint64_t>(last - start.value + 1)));
  }
  ++tally_.logs_expired;
}

// Plays that are neither in the log, nor merged, nor in local state that is used, are lost from now on. Says how many
// are new.
size_t World::lose_unmerged(int32_t p, const WindowStartFacts& facts, bool resumes) {
  size_t lost = 0;
  for (size_t offset = 0; offset < static_cast<size_t>(facts.log_start.value); ++offset) {
    const Offset at(static_cast<int64_t>(offset));
    if (facts.watermark && facts.watermark->covers({at, Offset(at.value + 1)})) continue;
    if (resumes && at < facts.local->applied) continue;
    lost += !std::exchange(logged_[p][offset].lost, true);
  }
  tally_.records_lost += lost;
  return lost;
}

// A window stage began without its state where this is merged. The log tells when the record before it was logged,
// where it has it.
void World::note_blind(int32_t p, Offset merged) {
  const Offset start = log_.start(kEvents, PartitionId(p));
  if (start.value > 0 && merged <= start)
    blind_[p].without_record_below.insert(static_cast<size_t>(start.value));
  else
    blind_[p].at.insert(static_cast<size_t>(merged.value));
}

void World::begin_new_log() {
  while (!survives([&] { return new_log(); })) {
    ++tally_.new_logs_crashed;
    filters_->crash(random_);
  }
  made_anew_ = true;
}

// As pipeline/topics/new_log.cc does.
Result<bool> World::new_log() {
  for (int32_t p = 0; p < kPartitions; ++p) {
    const PartitionId partition(p);
    BLOOMRING_TRY_ASSIGN(auto watermark, filters_->read_watermark(partition));
    const MergeStart start = merge_start(p);
    UnreadBatches unread({partition, kPartitions, ring_.slot_ms}, calendar_, take_over(p), std::move(watermark),
                         std::make_unique<SimSource>(log_, "merge", kBatches, partition, start.read_from),
                         log_.end(kBatches, partition));
    while (!unread.done()) BLOOMRING_TRY(unread.step(merge_clock_.now_ms()).status());
    tally_.unread_merged += unread.stats().records;
  }
  BLOOMRING_TRY(filters_->sync());
  if (one_in(random_, 20)) throw Crash{};
  for (int32_t p = 0; p < kPartitions; ++p) {
    log_.start(kBatches, PartitionId(p)) = log_.end(kBatches, PartitionId(p));
    if (one_in(random_, 20)) throw Crash{};
  }
  MemoryFilterStore::Rows rows = filters_->backup();
  for (int32_t p = 0; p < kPartitions; ++p) {
    const PartitionId partition(p);
    BLOOMRING_TRY_ASSIGN(const auto old, filters_->read_watermark(partition));
    leave_behind(p, old);
    drop_offsets(p);
    rows[watermark_key(partition)] = encode_watermark(of_new_log(old), partition, kPartitions);
  }
  filters_->restore(rows);
  backup_ = std::move(rows);  // The ones before are of the old log.
  return true;
}

// Records that the log does not hold any more are of an earlier one. What is not merged of them is lost.
void World::leave_behind(int32_t p, const std::optional<MergedWatermark>& merged) {
  const size_t end = log_.partition(kEvents, PartitionId(p)).size();
  for (size_t offset = end; offset < logged_[p].size(); ++offset) {
    const Offset at(static_cast<int64_t>(offset));
    const bool kept = merged && merged->covers({at, Offset(at.value + 1)});
    before_[p].push_back({std::move(logged_[p][offset].events), kept});
  }
  logged_[p].resize(std::min(logged_[p].size(), end));
  logged_at_restore_[p] = std::min(logged_at_restore_[p], end);
}

// Every stage begins at the log's start.
void World::drop_offsets(int32_t p) {
  drains_[p].begin_new_log();
  disks_[p]->lose();
  log_.committed("window", kEvents, PartitionId(p)) = -1;
  watermark_floor_[p] = 0;
  logged_at_restore_[p] = 0;
  blind_[p] = {};
  clock_wrong_from_[p] = clocks_go_wrong_ ? 0 : SIZE_MAX;
}

}  // namespace bloomring::simulation
