#include "pipeline/replica_task.h"

#include <algorithm>

namespace bloomring {

ReplicaTask::ReplicaTask(ReplicaTaskConfig config, std::shared_ptr<HeldPartition> held, FilterStore& filters,
                         std::unique_ptr<Source> source, Offset start, Offset log_end_at_start)
    : config_(config),
      held_(std::move(held)),
      filters_(filters),
      source_(std::move(source)),
      next_(start),
      ready_at_(log_end_at_start) {}

Result<bool> ReplicaTask::step(int64_t now_ms) {
  bool worked = false;
  for (size_t i = 0; i < config_.blocks_per_step; ++i) {
    BLOOMRING_TRY_ASSIGN(const std::optional<LogRecord> record, source_->poll());
    if (!record) break;
    apply(*record, now_ms);
    worked = true;
  }
  note_fresh();
  if (!held_->ready() && (next_ >= ready_at_ || source_->at_end())) held_->set_ready();
  BLOOMRING_TRY(take_watermark(now_ms));
  return worked;
}

// A log does not shrink: an end below one that was heard, or below what had been read by then, is of a broker that
// answers with its older log.
void ReplicaTask::hear_log_end(Offset end, int64_t asked_at_ms) {
  if (end >= end_least_) end_ = LogEnd{end, asked_at_ms};
  end_least_ = std::max({end_least_, end, next_});
}

void ReplicaTask::note_fresh() {
  if (!end_ || next_ < end_->offset) return;
  held_->set_fresh_at_ms(end_->asked_at_ms);
  end_.reset();
}

void ReplicaTask::apply(const LogRecord& record, int64_t now_ms) {
  next_ = Offset(record.offset.value + 1);
  auto block = EventBlockReader::open(record.value, held_->id(), config_.partition_count);
  if (!block.ok()) {
    ++stats_.bad_blocks;
    return;
  }
  ++stats_.blocks;
  stats_.events += block->events();
  if (held_->ready()) note_delay(*block, now_ms);
  held_->apply(record.offset, record.log_time_ms, *block);
  held_->set_fresh_at_ms(record.log_time_ms);
}

void ReplicaTask::note_delay(const EventBlockReader& block, int64_t now_ms) {
  if (delays_.size() == kDelaysMax) return;
  EventBlockReader reader = block;
  int64_t newest_ms = 0;
  while (reader.next_user()) {
    while (reader.next_event()) newest_ms = std::max(newest_ms, reader.event().time_ms);
  }
  delays_.push_back(std::max(0.0, static_cast<double>(now_ms - newest_ms) / 1000.0));
}

std::vector<double> ReplicaTask::take_delays() { return std::exchange(delays_, {}); }

Status ReplicaTask::take_watermark(int64_t now_ms) {
  if (now_ms < watermark_due_ms_ && watermark_due_ms_ - now_ms <= config_.watermark_interval_ms) return {};
  watermark_due_ms_ = now_ms + config_.watermark_interval_ms;
  held_->expire(now_ms);
  auto read = filters_.read_watermark(held_->id());
  if (read.code() == Code::kRetry) {
    ++stats_.store_retries;
    return {};
  }
  BLOOMRING_TRY(read.status());
  const MergedWatermark watermark = read->value_or(MergedWatermark{});
  if (went_back(watermark)) {
    return fatal("the filter store went back: its watermark of partition " + std::to_string(held_->id().value) +
                 " is " + std::to_string(watermark.offset.value) + " and was " +
                 std::to_string(watermark_.offset.value) + ". The next start reads the log from there");
  }
  watermark_ = watermark;
  if (*read) held_->release(watermark, now_ms - config_.lap_ms);
  return {};
}

// True when it does not cover what the last one did. Memory may still reach down to it, but filters that were read
// since are taken for as new as the last watermark (serving/filter_cache.h), so nothing here can be kept.
bool ReplicaTask::went_back(const MergedWatermark& watermark) const {
  const auto covered = [&](const OffsetRange& range) { return watermark.covers(range); };
  return watermark_.offset > watermark.offset ||
         !std::all_of(watermark_.ahead.begin(), watermark_.ahead.end(), covered);
}

}  // namespace bloomring
