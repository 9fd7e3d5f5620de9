#include "operators/filters/merge.h"

#include <algorithm>
#include <utility>

#include "base/faults/fault_point.h"
#include "base/hash.h"
#include "state/forget_rule.h"
#include "state/merged_time.h"

namespace bloomring {

Merge::Merge(MergeConfig config, const Calendar& calendar, std::unique_ptr<PartitionWriter> store,
             std::optional<MergedWatermark> watermark)
    : config_(config),
      calendar_(calendar),
      progress_(std::move(watermark), config.slot_ms, config.slot_end_key),
      store_(std::move(store)) {}

Result<std::optional<Merge::Applied>> Merge::apply(std::string_view record, int64_t wall_ms, std::string& detail) {
  Applied applied;
  if (step_ == Step::kIdle) {
    BLOOMRING_TRY_ASSIGN(applied, begin(record, wall_ms, detail));
  }
  while (step_ != Step::kIdle) {
    const std::optional<Status> ended = store_->poll();
    if (!ended) return std::optional<Applied>();
    const Step step = std::exchange(step_, Step::kIdle);
    BLOOMRING_TRY(*ended);
    switch (step) {
      case Step::kIdle: break;
      case Step::kReadForgotten: apply_forgets(store_->take_forgotten()); begin_apply(record); break;
      case Step::kApply: end_apply(record); break;
      case Step::kAdvance: end_advance(); break;
      case Step::kSync: break;
    }
    applied.slot_end = step == Step::kAdvance;
  }
  return std::optional(applied);
}

Result<Merge::Applied> Merge::begin(std::string_view record, int64_t wall_ms, std::string& detail) {
  auto decoded = decode_batch_record(record, config_.partition, config_.partition_count);
  // Not a batch record of this partition: refused, nothing is applied.
  if (!decoded.ok()) {
    detail = decoded.status().message();
    return Applied{Refusal::kBadBatch, false};
  }
  ++stats_.records;
  // A slot end moves the watermark; user batches change the filters.
  if (auto* end = std::get_if<SlotEnd>(&*decoded)) {
    return Applied{Refusal::kNone, true, begin_end_slot(*end, wall_ms)};
  }
  now_ms_ = expiry_now_ms(wall_ms, store_->merged_ms());
  begin_unite(std::get<UserBatchReader>(*decoded));
  return Applied{};
}

Result<bool> Merge::sync() {
  if (step_ == Step::kIdle) store_->begin_sync();
  step_ = Step::kSync;
  const std::optional<Status> ended = store_->poll();
  if (!ended) return false;
  step_ = Step::kIdle;
  BLOOMRING_TRY(*ended);
  return true;
}

void Merge::begin_unite(UserBatchReader& reader) {
  if (!progress_.begin_batch(reader.header())) {
    ++stats_.records_covered;
    return;
  }
  pending_.clear();
  items_.clear();
  times_ms_.clear();
  users_.clear();
  user_refs_.clear();
  while (reader.next_user()) add_user(reader);
  step_ = Step::kReadForgotten;
  store_->begin_read_forgotten(user_refs_);
}

void Merge::end_apply(std::string_view record) {
  progress_.applied(record);
  fault_point("merge.applied");
}

void Merge::add_user(UserBatchReader& reader) {
  const UserRef user = reader.user();
  const size_t first = pending_.size();
  for (QuarterIndex quarter; reader.next_quarter(quarter, quarter_items_, quarter_times_ms_);) {
    const PeriodIndex period = calendar_.period_of(quarter);
    // An expired period: its plays are counted and skipped.
    if (!calendar_.kept(user.hash, period, now_ms_)) {
      stats_.plays_expired += quarter_items_.size();
      continue;
    }
    // Quarters ascend, so those of one period follow each other and become one update.
    const bool same_period = pending_.size() > first && pending_.back().period == period;
    if (!same_period) pending_.push_back({user, period, items_.size(), items_.size()});
    items_.insert(items_.end(), quarter_items_.begin(), quarter_items_.end());
    times_ms_.insert(times_ms_.end(), quarter_times_ms_.begin(), quarter_times_ms_.end());
    pending_.back().items_end = items_.size();
  }
  user_refs_.push_back(user);
  users_.push_back({first, pending_.size(), reader.forgets()});
  ++stats_.batches;
}

// Leaves the plays that count in pending_, and the forgotten values to write in forgotten_updates_.
void Merge::apply_forgets(std::vector<Forgotten> stored) {
  forgotten_updates_.clear();
  for (size_t i = 0; i < users_.size(); ++i) {
    // No forgets, new or stored: all plays of the user count.
    if (users_[i].forgets.empty() && stored[i].empty()) continue;
    stats_.forgotten_damaged += stored[i].damaged();
    ForgottenUpdate update{user_refs_[i], std::move(stored[i]), PeriodIndex(0), PeriodIndex(0)};
    const bool forgets_changed = take_forgets(users_[i], update);
    const bool plays_changed = take_plays(users_[i], update.forgotten);
    if (forgets_changed || plays_changed) forgotten_updates_.push_back(std::move(update));
  }
}

bool Merge::is_passed(const Forget& forget) const {
  const MergedWatermark merged = watermark().value_or(MergedWatermark{});
  return forget_rule::is_passed(forget.offset, merged.ahead.empty() ? merged.offset : merged.ahead.back().to);
}

// Adds the user's forgets to `update`. True when that changed the forgotten value.
bool Merge::take_forgets(const User& user, ForgottenUpdate& update) {
  const uint64_t hash = update.user.hash;
  update.forgotten.expire(
      [&](int64_t time_ms) { return !calendar_.kept(hash, calendar_.period_of_ms(time_ms), now_ms_); });
  uint64_t news = 0;
  for (const Forget& forget : user.forgets) {
    const int64_t until_ms = forget_rule::reach_ms(forget, is_passed(forget), calendar_);
    const PeriodIndex period = calendar_.period_of_ms(until_ms);
    // Expired: no filter is left that it could matter to. One item: masked. Everything: its filters are removed too.
    if (!calendar_.kept(hash, period, now_ms_)) continue;
    if (!forget.everything) {
      news += update.forgotten.forget_item(forget.item, until_ms);
    } else if (update.forgotten.forget_everything(until_ms)) {
      // A filter is kept for retention_periods after its own period and expires in the next one. So by the forget's own
      // time, older filters had expired, and the removal need not reach them.
      const auto kept = static_cast<int32_t>(calendar_.config().retention_periods) + 1;
      update.removed_from = PeriodIndex(std::max(0, period.value - kept));
      update.removed_to = std::max(update.removed_to, PeriodIndex(period.value + 1));
      ++news;
    }
  }
  stats_.forgets += news;
  return news > 0;
}

// Removes the user's plays that do not count from pending_. True when a play of a forgotten item changed `forgotten`.
bool Merge::take_plays(const User& user, Forgotten& forgotten) {
  bool changed = false;
  for (size_t p = user.pending_begin; p < user.pending_end; ++p) {
    size_t kept = pending_[p].items_begin;
    for (size_t i = kept; i < pending_[p].items_end; ++i) {
      if (forgotten.take_play(items_[i], times_ms_[i], changed)) items_[kept++] = items_[i];
    }
    stats_.plays_forgotten += pending_[p].items_end - kept;
    pending_[p].items_end = kept;
  }
  return changed;
}

void Merge::begin_apply(std::string_view record) {
  updates_.clear();
  for (const Pending& p : pending_) {
    // Every play of the period is forgotten.
    if (p.items_begin == p.items_end) continue;
    updates_.push_back({p.user, p.period, std::span(items_).subspan(p.items_begin, p.items_end - p.items_begin)});
    stats_.plays += p.items_end - p.items_begin;
  }
  if (updates_.empty() && forgotten_updates_.empty()) return end_apply(record);
  step_ = Step::kApply;
  store_->begin_apply(forgotten_updates_, updates_);
}

std::string_view Merge::begin_end_slot(const SlotEnd& end, int64_t wall_ms) {
  using End = MergeProgress::End;
  ++stats_.slot_ends;
  const End does = progress_.end_slot(end, wall_ms);
  stats_.slot_ends_incomplete += does == End::kIncomplete;
  stats_.slot_ends_doubted += does == End::kUnsummed || does == End::kForged || does == End::kDiffers;
  if (does == End::kMoves) {
    step_ = Step::kAdvance;
    store_->begin_advance(progress_.moved());
  }
  return MergeProgress::describe(does);
}

void Merge::end_advance() {
  fault_point("merge.advanced");
  progress_.advanced();
  ++stats_.watermark_moves;
}

}  // namespace bloomring
