#include "tests/pipeline/stages/last_played_view.h"

#include <algorithm>
#include <set>

#include "operators/merge_progress.h"
#include "pipeline/stages/view_merge_stage.h"
#include "tests/pipeline/stages/last_played_row.h"

namespace bloomring::testing {
namespace {

// One pass: all plays of the hours, packed as user batches.
class LastPlayedDrain final : public ViewDrain {
 public:
  LastPlayedDrain(Drain drain, PartitionId partition, uint32_t partition_count) : drain_(std::move(drain)) {
    const OffsetRange range{drain_.hours.front().range.from, drain_.hours.back().range.to};
    end_.header = {partition, partition_count, range, drain_.attempt};
  }

  size_t passes() const override { return 1; }
  size_t passes_done() const override { return done_; }
  Status next_pass(WindowStore& store, std::vector<std::string>& records) override {
    std::map<std::string, std::set<DrainedPlay>> plays;
    for (const StagedHour& staged : drain_.hours) {
      if (merged_.covers(staged.range)) continue;
      BLOOMRING_TRY(store.scan(staged.hour, [&](Offset, std::string_view block) {
        EventBlockReader reader = EventBlockReader::reopen(block);
        while (reader.next_user()) {
          while (reader.next_event()) {
            const Event& event = reader.event();
            if (event.kind != EventKind::kPlay) continue;
            plays[std::string(reader.user_key())].insert(DrainedPlay::at(event.time_ms, event.item));
          }
        }
        return Status();
      }));
    }
    UserBatchBuilder builder;
    for (const auto& [user, played] : plays) builder.add(user, {}, latest(played));
    if (builder.users() > 0) records.push_back(builder.finish(end_.header));
    end_.records = records.size();
    for (const std::string& record : records) end_.digest += record_digest(record);
    end_.users = plays.size();
    done_ = 1;
    return {};
  }
  void drop_merged(const MergedWatermark& watermark) override { merged_ = watermark; }
  std::string slot_end(const SumKey& key) const override {
    SlotEnd end = end_;
    for (const StagedHour& staged : drain_.hours) {
      if (!merged_.covers(staged.range)) end.hours.push_back({staged.hour, staged.range});
    }
    return encode_slot_end(end, key);
  }
  Totals totals() const override { return {.batches = end_.users}; }

 private:
  // One play of each item and quarter, as user batches have them.
  static std::vector<DrainedPlay> latest(const std::set<DrainedPlay>& plays) {
    std::vector<DrainedPlay> kept;
    for (const DrainedPlay& play : plays) {
      const bool repeat = !kept.empty() && kept.back().quarter == play.quarter && kept.back().item == play.item;
      if (repeat) kept.pop_back();
      kept.push_back(play);
    }
    return kept;
  }

  const Drain drain_;
  SlotEnd end_;
  MergedWatermark merged_;
  size_t done_ = 0;
};

class LastPlayedView final : public View {
 public:
  LastPlayedView(PartitionId partition, uint32_t partition_count)
      : partition_(partition), partition_count_(partition_count) {}
  std::string_view name() const override { return "last-played"; }
  std::unique_ptr<ViewDrain> drain(Drain drain) override {
    return std::make_unique<LastPlayedDrain>(std::move(drain), partition_, partition_count_);
  }

 private:
  const PartitionId partition_;
  const uint32_t partition_count_;
};

class LastPlayedMerge final : public ViewMerge {
 public:
  LastPlayedMerge(LastPlayed& store, PartitionId partition, uint32_t partition_count,
                  std::optional<MergedWatermark> watermark, int64_t slot_ms)
      : store_(store),
        partition_(partition),
        partition_count_(partition_count),
        progress_(std::move(watermark), slot_ms, *store.slot_end_key().value()) {}

  Result<std::optional<Applied>> apply(std::string_view record, int64_t wall_ms, std::string& detail) override {
    if (store_.away()) return retry("the store of last plays is away");
    auto decoded = decode_batch_record(record, partition_, partition_count_);
    if (!decoded.ok()) {
      detail = decoded.status().message();
      return std::optional(Applied{Refusal::kBadBatch});
    }
    if (auto* reader = std::get_if<UserBatchReader>(&*decoded)) {
      if (progress_.begin_batch(reader->header())) take(*reader);
      progress_.applied(record);
      return std::optional(Applied{});
    }
    if (progress_.end_slot(std::get<SlotEnd>(*decoded), wall_ms) == MergeProgress::End::kMoves) {
      store_.advance(partition_, progress_.moved());
      progress_.advanced();
    }
    return std::optional(Applied{Refusal::kNone, true});
  }
  const std::optional<MergedWatermark>& watermark() const override { return progress_.watermark(); }

 private:
  void take(UserBatchReader& reader) {
    std::vector<ItemHash> items;
    std::vector<int64_t> times_ms;
    while (reader.next_user()) {
      for (QuarterIndex quarter; reader.next_quarter(quarter, items, times_ms);) {
        for (size_t i = 0; i < items.size(); ++i) store_.played(reader.user_key(), items[i], times_ms[i]);
      }
    }
  }

  LastPlayed& store_;
  const PartitionId partition_;
  const uint32_t partition_count_;
  MergeProgress progress_;
};

}  // namespace

void LastPlayed::played(std::string_view user_key, ItemHash item, int64_t time_ms) {
  const std::lock_guard lock(mutex_);
  int64_t& last_ms = times_[{std::string(user_key), item}];
  last_ms = std::max(last_ms, time_ms);
}

void LastPlayed::advance(PartitionId partition, const MergedWatermark& watermark) {
  const std::lock_guard lock(mutex_);
  watermarks_[partition] = watermark;
}

LastPlayed::Times LastPlayed::times() const {
  const std::lock_guard lock(mutex_);
  return times_;
}

void LastPlayed::set_away(bool away) {
  const std::lock_guard lock(mutex_);
  away_ = away;
}

bool LastPlayed::away() const {
  const std::lock_guard lock(mutex_);
  return away_;
}

Result<std::optional<MergedWatermark>> LastPlayed::read_watermark(PartitionId partition) {
  const std::lock_guard lock(mutex_);
  if (away_) return retry("the store of last plays is away");
  const auto found = watermarks_.find(partition);
  return found == watermarks_.end() ? std::nullopt : std::optional(found->second);
}

std::unique_ptr<View> last_played_view(PartitionId partition, uint32_t partition_count) {
  return std::make_unique<LastPlayedView>(partition, partition_count);
}

std::unique_ptr<ViewMerge> last_played_merge(LastPlayed& store, PartitionId partition, uint32_t partition_count,
                                             int64_t slot_ms) {
  auto watermark = store.read_watermark(partition);
  return std::make_unique<LastPlayedMerge>(store, partition, partition_count,
                                           watermark.ok() ? *watermark : std::nullopt, slot_ms);
}

LastPlayed& last_played() {
  static LastPlayed store;
  return store;
}

const ViewRow& last_played_row() {
  static const ViewRow kRow{
      .name = "last-played",
      .merge_stage = "last-played",
      .batches = kLastPlayedBatches,
      .watermarks = [](const StageContext&) -> WatermarkReader& { return last_played(); },
      .view = [](const StageContext& context,
                 PartitionId partition) { return last_played_view(partition, context.settings.topics.partitions); },
      .merge = [](const StageContext& context, const Lease&,
                  PartitionId partition) -> Result<std::unique_ptr<ViewMerge>> {
        return last_played_merge(last_played(), partition, context.settings.topics.partitions,
                                 context.settings.ring.slot_ms());
      }};
  return kRow;
}

StageRow last_played_stage() {
  return {.name = "last-played",
          .purpose = "keeps when each user played each item last",
          .reads = {kLastPlayedBatches},
          .writes = {TopicRole::kDeadLetters},
          .in_group = true,
          .claim =
              [](const Settings&, const PartitionCounts& counts, MemoryClaims& claims) {
                claims.push_back(queue_claim(MemoryUse::kOther, "last-played queue", counts.pipeline, 1));
              },
          .make = [](const StageContext& context) -> std::unique_ptr<Stage> {
            return std::make_unique<ViewMergeStage>(context, last_played_row(), MemoryUse::kOther);
          }};
}

}  // namespace bloomring::testing
