#include "operators/merge.h"

#include "base/fault_point.h"
#include "base/hash.h"

namespace bloomring {

Merge::Merge(MergeConfig config, const Calendar& calendar, FilterStore& store, std::optional<MergedWatermark> watermark)
    : config_(config), calendar_(calendar), store_(store), watermark_(std::move(watermark)) {}

Result<Merge::Applied> Merge::apply(std::string_view bytes, int64_t now_ms, std::string& detail) {
  auto decoded = decode_batch_record(bytes, config_.partition, config_.partition_count);
  if (!decoded.ok()) {
    detail = decoded.status().message();
    return Applied{Refusal::kBadBatch, false};
  }
  ++stats_.records;
  if (auto* end = std::get_if<SlotEnd>(&*decoded)) {
    BLOOMRING_TRY(end_slot(*end));
    return Applied{Refusal::kNone, true};
  }
  BLOOMRING_TRY(unite(std::get<UserBatchReader>(*decoded), bytes, now_ms));
  return Applied{};
}

Status Merge::unite(UserBatchReader& reader, std::string_view record, int64_t now_ms) {
  if (reader.header() != drain_) {
    drain_ = reader.header();
    drain_seen_.clear();
  }
  if (watermark_ && watermark_->covers(drain_.range)) {
    ++stats_.records_covered;
    return {};
  }
  pending_.clear();
  items_.clear();
  while (reader.next_user()) add_user(reader, now_ms);
  BLOOMRING_TRY(flush_updates());
  drain_seen_.insert(hash_bytes(record, 0));
  fault_point("merge.applied");
  return {};
}

void Merge::add_user(UserBatchReader& reader, int64_t now_ms) {
  const uint64_t hash = user_hash(reader.user_key());
  const size_t first = pending_.size();
  for (QuarterIndex quarter; reader.next_quarter(quarter, quarter_items_);) {
    const PeriodIndex period = calendar_.period_of(quarter);
    if (!calendar_.kept(hash, period, now_ms)) {
      stats_.plays_expired += quarter_items_.size();
      continue;
    }
    const bool same_period = pending_.size() > first && pending_.back().period == period;
    if (!same_period) pending_.push_back({reader.user_key(), period, items_.size(), items_.size()});
    items_.insert(items_.end(), quarter_items_.begin(), quarter_items_.end());
    pending_.back().items_end = items_.size();
    stats_.plays += quarter_items_.size();
  }
  ++stats_.batches;
}

Status Merge::flush_updates() {
  updates_.clear();
  for (const Pending& p : pending_) {
    updates_.push_back({p.user_key, p.period, std::span(items_).subspan(p.items_begin, p.items_end - p.items_begin)});
  }
  if (updates_.empty()) return {};
  return store_.apply(updates_);
}

Status Merge::end_slot(const SlotEnd& end) {
  ++stats_.slot_ends;
  MergedWatermark moved = watermark_.value_or(MergedWatermark{});
  for (const DrainedHour& drained : end.hours) moved.add(drained.range, drained.hour);
  if (watermark_ && moved == *watermark_) return {};
  const bool all_seen = end.records == 0 || (end.header == drain_ && drain_seen_.size() == end.records);
  if (!all_seen) {
    ++stats_.slot_ends_incomplete;
    return {};
  }
  BLOOMRING_TRY(store_.advance(config_.partition, moved));
  fault_point("merge.advanced");
  watermark_ = std::move(moved);
  ++stats_.watermark_moves;
  return {};
}

}  // namespace bloomring
