#include "pipeline/window_task.h"

#include <algorithm>

#include "base/fault_point.h"
#include "pipeline/dead_letter.h"

namespace bloomring {

WindowTask::WindowTask(WindowTaskConfig config, std::unique_ptr<WindowStore> store, Ring ring, FilterStore& filters,
                       std::unique_ptr<Source> source, std::unique_ptr<Sink> sink)
    : config_(std::move(config)),
      store_(std::move(store)),
      filters_(filters),
      source_(std::move(source)),
      sink_(std::move(sink)),
      window_(config_.window, *store_, std::move(ring)) {}

Result<bool> WindowTask::step(int64_t now_ms) {
  worked_ = false;
  BLOOMRING_TRY(take_acks());
  BLOOMRING_TRY(apply_blocks(now_ms));
  if (source_->at_end() && !refused_) BLOOMRING_TRY(window_.pass_time(now_ms));
  BLOOMRING_TRY(take_watermark(now_ms));
  BLOOMRING_TRY(carry_drain(now_ms));
  BLOOMRING_TRY(flush_if_due(now_ms));
  return worked_;
}

Status WindowTask::take_acks() {
  acks_.clear();
  BLOOMRING_TRY(sink_->poll_acks(acks_));
  worked_ |= !acks_.empty();
  for (const uint64_t ack : acks_) {
    const auto kind = static_cast<Ticket>(ack % kTicketKinds);
    if (kind == Ticket::kDeadLetter) {
      ++dead_letters_;
      BLOOMRING_TRY(window_.skip(refused_->offset, refused_->log_time_ms));
      refused_.reset();
    } else if (ack / kTicketKinds != drain_id_) {
      continue;  // Of a drain that was abandoned.
    } else if (kind == Ticket::kSlotEnd) {
      fault_point("window.slot_end_durable");
      window_.drain_finished();
      follow_drain();
    } else {
      --unacknowledged_;
    }
  }
  return {};
}

Status WindowTask::apply_blocks(int64_t now_ms) {
  for (size_t i = 0; i < config_.blocks_per_step && !refused_; ++i) {
    BLOOMRING_TRY_ASSIGN(const std::optional<LogRecord> record, source_->poll());
    if (!record) break;
    worked_ = true;
    if (record->offset < window_.ring().applied()) continue;  // Read again after a restart; already applied.
    BLOOMRING_TRY(apply_block(*record, now_ms));
  }
  if (!refused_ || refused_->sent) return {};
  const Status sent = sink_->send(refused_->letter, ticket(Ticket::kDeadLetter));
  if (sent.code() == Code::kRetry) return {};
  refused_->sent = sent.ok();
  return sent;
}

Status WindowTask::apply_block(const LogRecord& record, int64_t now_ms) {
  std::string detail;
  BLOOMRING_TRY_ASSIGN(const Refusal refusal, window_.apply(record.offset, record.log_time_ms, record.value, detail));
  if (refusal == Refusal::kNone) return {};
  const RecordOrigin origin{"window", config_.events_topic, config_.window.partition};
  refused_ = std::make_unique<Refused>(
      Refused{dead_letter(config_.dead_topic, origin, record, refusal, detail, now_ms), record.offset, record.log_time_ms});
  return {};
}

Status WindowTask::take_watermark(int64_t now_ms) {
  if (now_ms < watermark_due_ms_ && watermark_due_ms_ - now_ms <= config_.watermark_interval_ms) return {};
  watermark_due_ms_ = now_ms + config_.watermark_interval_ms;
  auto read = filters_.read_watermark(config_.window.partition);
  if (read.code() == Code::kRetry) return {};  // The store is away: slots wait, plays keep flowing.
  BLOOMRING_TRY(read.status());
  if (!*read) return {};
  const MergedWatermark& watermark = **read;
  merged_ = watermark.offset;
  BLOOMRING_TRY(window_.merged(watermark));
  const Offset commit = std::min(watermark.offset, window_.ring().applied());
  if (commit <= committed_) return {};
  source_->commit(commit);
  committed_ = commit;
  fault_point("window.committed");
  return {};
}

Status WindowTask::carry_drain(int64_t now_ms) {
  follow_drain();
  if (outbox_.empty() && unacknowledged_ < config_.in_flight_max) {
    records_.clear();
    BLOOMRING_TRY(window_.drain_step(now_ms, records_));
    follow_drain();
    for (std::string& record : records_) {
      outbox_.push_back({config_.batches_topic, config_.window.partition, {}, std::move(record), {}});
    }
  }
  if (drain_id_ == 0) return {};
  BLOOMRING_TRY(send_outbox());
  return send_slot_end();
}

// Drops what belongs to a drain that has ended or that the ring has come round to.
void WindowTask::follow_drain() {
  if (drain_id_ == window_.drain_id()) return;
  drain_id_ = window_.drain_id();
  outbox_.clear();
  unacknowledged_ = 0;
  slot_end_sent_ = false;
  worked_ = true;
}

Status WindowTask::send_outbox() {
  while (!outbox_.empty()) {
    const Status sent = sink_->send(outbox_.front(), ticket(Ticket::kBatch));
    if (sent.code() == Code::kRetry) return {};
    BLOOMRING_TRY(Status(sent));
    worked_ = true;
    ++unacknowledged_;
    outbox_.pop_front();
    fault_point("window.batch_sent");
  }
  return {};
}

Status WindowTask::send_slot_end() {
  if (slot_end_sent_ || !window_.passes_done() || !outbox_.empty() || unacknowledged_ > 0) return {};
  OutRecord end{config_.batches_topic, config_.window.partition, {}, window_.slot_end(), {}};
  const Status sent = sink_->send(end, ticket(Ticket::kSlotEnd));
  if (sent.code() == Code::kRetry) return {};
  slot_end_sent_ = sent.ok();
  worked_ = true;
  fault_point("window.slot_end_sent");
  return sent;
}

Status WindowTask::flush_if_due(int64_t now_ms) {
  if (now_ms < flush_due_ms_ && flush_due_ms_ - now_ms <= config_.flush_interval_ms) return {};
  flush_due_ms_ = now_ms + config_.flush_interval_ms;
  return store_->flush();
}

}  // namespace bloomring
