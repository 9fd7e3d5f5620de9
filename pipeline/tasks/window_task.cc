#include "pipeline/tasks/window_task.h"

#include <algorithm>

#include "base/faults/fault_point.h"
#include "operators/window_start.h"

namespace bloomring {

WindowTask::WindowTask(WindowTaskConfig config, const Clock& clock, std::unique_ptr<WindowStore> store, Window window,
                       std::vector<ViewLog> views, std::unique_ptr<Source> source, std::unique_ptr<Sink> sink)
    : config_(std::move(config)),
      clock_(clock),
      store_(std::move(store)),
      source_(std::move(source)),
      sink_(std::move(sink)),
      window_(std::move(window)),
      log_clock_(window_.ring().begun_ms(), window_.ring().config().slot_ms),
      letters_(config_.dead_topic, {config_.stage, config_.events_topic, config_.window.partition}) {
  BLOOMRING_CHECK(views.size() == window_.views(), "each view has a log");
  for (ViewLog& log : views) views_.push_back({std::move(log), {.expected = log.watch != nullptr}});
  if (const int64_t noted_ms = window_.ring().noted_time_ms(); noted_ms > 0) log_clock_.saw(noted_ms, steady_ms());
}

Result<bool> WindowTask::step(int64_t now_ms) {
  worked_ = false;
  BLOOMRING_TRY(take_acks());
  window_.note_time(log_clock_.now_ms(steady_ms()));
  BLOOMRING_TRY(apply_blocks(now_ms));
  BLOOMRING_TRY(window_.pass_to(position()));
  BLOOMRING_TRY(seal_quiet_hour(now_ms));
  follow_filling();
  BLOOMRING_TRY(take_watermarks(now_ms));
  for (size_t view = 0; view < views_.size(); ++view) BLOOMRING_TRY(carry_drain(view));
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
      const DeadLetterGate::Place refused = letters_.acknowledged();
      BLOOMRING_TRY(window_.skip(refused.offset, refused.log_time_ms));
    } else {
      take_drain_ack(ack / kTicketKinds, kind);
    }
  }
  return {};
}

void WindowTask::take_drain_ack(uint64_t drain_id, Ticket kind) {
  for (size_t view = 0; view < views_.size(); ++view) {
    DrainProgress* drain = window_.drain(view);
    // Another view's, or the acknowledgement is of an abandoned drain.
    if (drain == nullptr || drain->id != drain_id) continue;
    if (kind == Ticket::kBatch) {
      --drain->unacknowledged;
      continue;
    }
    fault_point("window.slot_end_durable");
    window_.drain_finished(view);
  }
}

Result<std::optional<LogRecord>> WindowTask::next_record() {
  auto polled = source_->poll();
  if (polled.ok() || !source_->lost_position()) return polled;
  return fatal(
      polled.status().message() +
      ". Records read before are kept; to go on without the lost ones, start once with state.accept_lost_events "
      "set to true");
}

// Fails when a record that was applied before a restart differs now that it is read again.
Status WindowTask::compare(const LogRecord& again) {
  const std::optional<HourIndex> hour = window_.ring().hour_holding(again.offset);
  if (!hour) return {};
  BLOOMRING_TRY_ASSIGN(const std::optional<std::string> staged, store_->find(*hour, again.offset));
  if (!staged || *staged == again.value) return {};
  return fatal(
      config_.events_topic + "[" + std::to_string(config_.window.partition.value) + "]: offset " +
      std::to_string(again.offset.value) +
      " holds another record than the one that was read there before: the topic "
      "was made again, or lost records by an unclean election. To go on with it stop everything, run `bloomring store "
      "new-log`, and remove the folders window-N in state.path of every other window process");
}

Status WindowTask::apply_blocks(int64_t now_ms) {
  for (size_t i = 0; i < config_.blocks_per_step && letters_.open(); ++i) {
    BLOOMRING_TRY_ASSIGN(const std::optional<LogRecord> record, next_record());
    if (!record) break;
    worked_ = true;
    log_clock_.saw(record->log_time_ms, steady_ms());
    window_.note_time(log_clock_.now_ms(steady_ms()));
    if (record->offset < window_.ring().applied()) {
      BLOOMRING_TRY(compare(*record));
      window_.set_base_log_time(record->log_time_ms);
    } else {
      BLOOMRING_TRY(apply_block(*record, now_ms));
    }
  }
  return letters_.send(*sink_, ticket(0, Ticket::kDeadLetter));
}

Offset WindowTask::position() const {
  const Offset applied = window_.ring().applied();
  return letters_.open() ? std::max(applied, source_->position()) : applied;
}

Status WindowTask::apply_block(const LogRecord& record, int64_t now_ms) {
  std::string detail;
  BLOOMRING_TRY_ASSIGN(const Refusal refusal, window_.apply(record.offset, record.log_time_ms, record.value, detail));
  if (refusal != Refusal::kNone) letters_.refuse(record, refusal, detail, now_ms);
  return {};
}

Status WindowTask::seal_quiet_hour(int64_t now_ms) {
  if (!source_->at_end() || !letters_.open()) return {};
  log_clock_.reached_end(now_ms, window_.ring().filling_end_ms(), steady_ms());
  return window_.advance_clock(log_clock_.now_ms(steady_ms()));
}

Status WindowTask::take_watermarks(int64_t now_ms) {
  if (now_ms < watermark_due_ms_ && watermark_due_ms_ - now_ms <= config_.watermark_interval_ms) return {};
  watermark_due_ms_ = now_ms + config_.watermark_interval_ms;
  for (size_t view = 0; view < views_.size(); ++view) BLOOMRING_TRY(take_watermark(view));
  commit_merged();
  return {};
}

Status WindowTask::take_watermark(size_t view) {
  ViewProgress& at = views_[view];
  const PartitionId partition = config_.window.partition;
  const BatchesLog batches = at.log.watch != nullptr ? at.log.watch->of(partition) : BatchesLog();
  auto read = at.log.watermarks->heard_watermark(partition);
  at.store_away = read.code() == Code::kRetry;
  if (at.store_away) return {};  // Slots wait, plays keep flowing.
  BLOOMRING_TRY(read.status());
  const MergedWatermark watermark = read->value_or(MergedWatermark{});
  if (!accounts_for_all(window_.ring().unmerged(view), window_.ring().applied(), watermark)) {
    return fatal("the filter store went back: its watermark is " + std::to_string(watermark.offset.value) +
                 ", but this process has released the log up to the earlier one, " + std::to_string(at.merged.value) +
                 ". The next start reads the log from there");
  }
  at.batches = batches;
  if (!*read) return {};
  at.merged = watermark.offset;
  return window_.merged(view, watermark);
}

Offset WindowTask::merged() const { return std::ranges::min_element(views_, {}, &ViewProgress::merged)->merged; }

void WindowTask::commit_merged() {
  const Offset commit = std::min(merged(), window_.ring().applied());
  if (commit.value < 0 || commit <= committed_) return;
  source_->commit(commit);
  committed_ = commit;
  fault_point("window.committed");
}

Status WindowTask::carry_drain(size_t view) {
  const ViewProgress& at = views_[view];
  DrainProgress* drain = window_.drain(view);
  const bool may_start = drain == nullptr && !at.store_away;
  const bool may_go_on =
      drain != nullptr && drain->outbox.empty() && drain->unacknowledged < config_.in_flight_max;
  if (may_start || may_go_on) {
    BLOOMRING_TRY_ASSIGN(const bool worked, window_.drain_step(view, log_clock_.now_ms(steady_ms()), at.batches));
    worked_ |= worked;
    drain = window_.drain(view);
  }
  if (drain == nullptr) return {};
  BLOOMRING_TRY(send_outbox(at.log, *drain));
  return send_slot_end(at.log, *drain);
}

void WindowTask::follow_filling() {
  const std::optional<HourIndex> filling = window_.ring().filling_with_records();
  if (filling == filling_hour_) return;
  filling_hour_ = filling;
  filling_since_ms_ = steady_ms();
}

Status WindowTask::send_outbox(const ViewLog& log, DrainProgress& drain) {
  while (!drain.outbox.empty()) {
    OutRecord record{log.batches_topic, config_.window.partition, {}, std::move(drain.outbox.front()), {}};
    const Status sent = sink_->send(record, ticket(drain.id, Ticket::kBatch));
    if (sent.code() == Code::kRetry) {
      drain.outbox.front() = std::move(record.value);
      return {};
    }
    BLOOMRING_TRY(Status(sent));
    worked_ = true;
    ++drain.unacknowledged;
    drain.outbox.pop_front();
    fault_point("window.batch_sent");
  }
  return {};
}

// Without the store's key a slot end would not be believed, so it waits for the process that makes one.
Status WindowTask::send_slot_end(const ViewLog& log, DrainProgress& drain) {
  if (!drain.may_end()) return {};
  const auto key = log.watermarks->slot_end_key();
  if (key.code() == Code::kRetry) return {};
  BLOOMRING_TRY(key.status());
  if (!*key) return {};
  OutRecord end{log.batches_topic, config_.window.partition, {}, drain.drain->slot_end(**key), {}};
  const Status sent = sink_->send(end, ticket(drain.id, Ticket::kSlotEnd));
  if (sent.code() == Code::kRetry) return {};
  drain.slot_end_sent = sent.ok();
  worked_ = true;
  fault_point("window.slot_end_sent");
  return sent;
}

Status WindowTask::flush_if_due(int64_t now_ms) {
  if (now_ms < flush_due_ms_ && flush_due_ms_ - now_ms <= config_.flush_interval_ms) return {};
  flush_due_ms_ = now_ms + config_.flush_interval_ms;
  return flush();
}

// With the log's time: an hour far ahead of the log, in which nothing is written, ends after a slot's length in all,
// however often the process restarts.
Status WindowTask::flush() {
  BLOOMRING_TRY(window_.save_time());
  return store_->flush();
}

}  // namespace bloomring
