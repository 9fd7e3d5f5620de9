#include "pipeline/tasks/merge_task.h"

#include "base/faults/fault_point.h"
#include "base/log.h"

namespace bloomring {

namespace {
constexpr int64_t kWarnIntervalMs = 60'000;
}

MergeTask::MergeTask(MergeTaskConfig config, std::unique_ptr<ViewMerge> merge, std::unique_ptr<Source> source,
                     std::unique_ptr<Sink> sink)
    : config_(std::move(config)),
      source_(std::move(source)),
      sink_(std::move(sink)),
      merge_(std::move(merge)),
      letters_(config_.dead_topic, {config_.stage, config_.batches_topic, config_.partition}) {}

Result<bool> MergeTask::step(int64_t now_ms) {
  BLOOMRING_TRY(take_acks());
  if (applied_.value < 0) applied_ = source_->position();
  bool worked = false;
  for (size_t i = 0; i < config_.records_per_step && letters_.open(); ++i) {
    BLOOMRING_TRY_ASSIGN(const bool any, take_record());
    if (!any) break;
    BLOOMRING_TRY(apply_record(now_ms));
    if (record_) break;  // It waits for the store or its dead letter.
    worked = true;
  }
  BLOOMRING_TRY(letters_.send(*sink_, 0));
  pass_to(source_->position());
  return worked;
}

Result<bool> MergeTask::take_record() {
  if (record_) return true;
  BLOOMRING_TRY_ASSIGN(record_, source_->poll());
  return record_.has_value();
}

Status MergeTask::apply_record(int64_t now_ms) {
  std::string detail;
  auto applied = merge_->apply(record_->value, now_ms, detail);
  if (applied.code() == Code::kRetry) {
    ++store_retries_;
    return {};
  }
  BLOOMRING_TRY(applied.status());
  if (!*applied) return {};  // The store works.
  const auto [refusal, slot_end, doubt] = **applied;
  if (refusal != Refusal::kNone) {
    letters_.refuse(*record_, refusal, detail, now_ms);
    return {};
  }
  if (!doubt.empty()) warn_of(doubt, now_ms);
  applied_ = Offset(record_->offset.value + 1);
  record_.reset();
  between_slot_ends_ = !slot_end;
  if (slot_end) commit();
  return {};
}

// Metrics count all of them.
void MergeTask::warn_of(std::string_view doubt, int64_t now_ms) {
  if (warned_at_ms_ && now_ms >= *warned_at_ms_ && now_ms - *warned_at_ms_ < kWarnIntervalMs) return;
  warned_at_ms_ = now_ms;
  log_warning("a slot end is not believed: its slot is drained again",
              {{"stage", config_.stage},
               {"topic", config_.batches_topic},
               {"partition", config_.partition.value},
               {"offset", record_->offset.value},
               {"reason", doubt}});
}

// Offsets without a record after a slot end are committed with it.
void MergeTask::pass_to(Offset position) {
  if (record_ || position <= applied_) return;
  applied_ = position;
  if (!between_slot_ends_) commit();
}

Status MergeTask::take_acks() {
  acks_.clear();
  BLOOMRING_TRY(sink_->poll_acks(acks_));
  if (acks_.empty()) return {};
  applied_ = Offset(letters_.acknowledged().offset.value + 1);
  record_.reset();
  return {};
}

void MergeTask::commit() {
  if (applied_ <= committed_) return;
  source_->commit(applied_);
  committed_ = applied_;
  fault_point("merge.committed");
}

}  // namespace bloomring
