#include "pipeline/tasks/replica_task.h"

#include <algorithm>

#include "operators/log_facts.h"

namespace bloomring {

namespace {
// Longer than a broker that was stopped still believes that it leads, and answers with its older log.
constexpr int64_t kBeyondPatienceNs = 30'000'000'000;
}  // namespace

ReplicaTask::ReplicaTask(ReplicaTaskConfig config, const Clock& clock, std::shared_ptr<ReplicaPartition> partition,
                         FilterReader& filters, std::unique_ptr<Source> source, Offset start, Offset log_end_at_start)
    : config_(config),
      clock_(clock),
      partition_(std::move(partition)),
      filters_(filters),
      source_(std::move(source)),
      next_(start),
      ready_at_(log_end_at_start) {}

Result<bool> ReplicaTask::step(int64_t) {
  if (!ended_.ok()) return false;
  bool worked = false;
  for (size_t i = 0; i < config_.blocks_per_step; ++i) {
    auto record = source_->poll();
    if (!record.ok()) {
      end(std::move(record).status());
      return true;
    }
    if (!*record) break;
    apply(**record);
    worked = true;
  }
  next_ = std::max(next_, source_->position());
  note_fresh();
  Status watermark = take_watermark();
  if (!watermark.ok()) {
    partition_->set_ready(false);
    return watermark;
  }
  if (!partition_->ready() && (next_ >= ready_at_ || source_->at_end())) partition_->set_ready();
  return worked;
}

void ReplicaTask::end(Status why) {
  partition_->set_ready(false);
  ended_ = std::move(why);
}

// A log does not shrink: an end below an earlier one, or below the next offset at that time, comes from a broker that
// answers with an older log.
void ReplicaTask::update_log_end(Offset offset, int64_t asked_at_ns) {
  if (offset >= end_least_) {
    if (ends_.size() == kEndsMax) ends_.pop_back();
    ends_.push_back({offset, asked_at_ns, clock_.steady_ns()});
  }
  end_least_ = std::max({end_least_, offset, next_});
  if (merged_end(watermark_) <= known_end()) return beyond_since_ns_.reset();
  if (asked_at_ns < watermark_read_at_ns_) return;
  if (!beyond_since_ns_) beyond_since_ns_ = asked_at_ns;
  if (asked_at_ns - *beyond_since_ns_ >= kBeyondPatienceNs) end(check_log_reaches(watermark_, offset));
}

// All ends are kept, not only the newest: a task that is always two seconds behind never reaches the newest.
void ReplicaTask::note_fresh() {
  for (; !ends_.empty() && next_ >= ends_.front().offset; ends_.pop_front())
    partition_->set_fresh_at_ns(ends_.front().asked_at_ns);
}

void ReplicaTask::apply(const LogRecord& record) {
  next_ = Offset(record.offset.value + 1);
  partition_->log_time().saw(record.log_time_ms, clock_.steady_ns());
  auto block = EventBlockReader::open(record.value, partition_->id(), config_.partition_count);
  if (!block.ok()) {
    ++stats_.bad_blocks;
    return;
  }
  ++stats_.blocks;
  stats_.events += block->events();
  if (partition_->ready()) note_delay(record, block->events());
  partition_->apply(record.offset, record.log_time_ms, *block);
}

void ReplicaTask::note_delay(const LogRecord& record, uint64_t events) {
  if (delays_.size() < kDelaysMax) return delays_.push_back({delay_seconds(record), events});
  delays_.back().events += events;
}

// A record at or above an end that was reached was written after the request for that end. A record below an end was
// written before the answer that named that end.
double ReplicaTask::delay_seconds(const LogRecord& record) const {
  const int64_t now_ns = clock_.steady_ns();
  const int64_t most_ms = std::max<int64_t>(0, partition_->lag_ms(now_ns));
  const bool before = !ends_.empty() && record.offset < ends_.front().offset;
  const int64_t least_ms = before ? (now_ns - ends_.front().answered_at_ns) / 1'000'000 : 0;
  const int64_t log_now_ms = partition_->log_time().now_ms(now_ns).value_or(record.log_time_ms);
  const int64_t delay_ms = std::clamp(log_now_ms - record.log_time_ms, std::min(least_ms, most_ms), most_ms);
  return static_cast<double>(delay_ms) / 1000.0;
}

std::vector<ReplicaTask::Delay> ReplicaTask::take_delays() { return std::exchange(delays_, {}); }

Status ReplicaTask::take_watermark() {
  const int64_t steady_ns = clock_.steady_ns();
  if (steady_ns < watermark_due_ns_) return {};
  watermark_due_ns_ = steady_ns + config_.watermark_interval_ms * 1'000'000;
  const int64_t now_ms = partition_->log_time().bounds(clock_).earliest_ms;
  partition_->expire(now_ms);
  auto read = filters_.heard_watermark(partition_->id());
  if (read.code() == Code::kRetry) {
    ++stats_.store_retries;
    return {};
  }
  BLOOMRING_TRY(read.status());
  const MergedWatermark watermark = read->value_or(MergedWatermark{});
  if (went_back(watermark)) {
    return fatal("the filter store went back: its watermark of partition " + std::to_string(partition_->id().value) +
                 " is " + std::to_string(watermark.offset.value) + " and was " +
                 std::to_string(watermark_.offset.value) + ". The next start reads the log from there");
  }
  watermark_ = watermark;
  if (merged_end(watermark) > known_end()) {
    watermark_read_at_ns_ = clock_.steady_ns();
    return {};
  }
  if (*read) partition_->release(watermark, now_ms - config_.lap_ms);
  return {};
}

// True when `watermark` does not cover all that the last one covered. Memory may still reach down to it, but filters
// that were read since count as exact up to the last watermark (serving/query/filter_cache.h), so nothing here can be
// kept.
bool ReplicaTask::went_back(const MergedWatermark& watermark) const {
  const auto covered = [&](const OffsetRange& range) { return watermark.covers(range); };
  return watermark_.offset > watermark.offset ||
         !std::all_of(watermark_.ahead.begin(), watermark_.ahead.end(), covered);
}

}  // namespace bloomring
