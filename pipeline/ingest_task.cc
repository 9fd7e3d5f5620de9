#include "pipeline/ingest_task.h"

#include <algorithm>

#include "base/fault_point.h"
#include "pipeline/dead_letter.h"

namespace bloomring {

IngestTask::IngestTask(IngestTaskConfig config, std::unique_ptr<Sink> sink)
    : config_(std::move(config)),
      sink_(std::move(sink)),
      ingest_(config_.ingest),
      open_firsts_(config_.ingest.partition_count) {}

void IngestTask::add_source(std::string topic, PartitionId partition, Offset start, std::unique_ptr<Source> source) {
  inputs_.push_back({std::move(topic), partition, std::move(source), start, Offset(-1)});
  releasing_ = false;
}

Result<bool> IngestTask::step(int64_t now_ms) {
  worked_ = false;
  BLOOMRING_TRY(take_acks());
  BLOOMRING_TRY(send_outbox());
  if (!releasing_) BLOOMRING_TRY(read(now_ms));
  close_due_blocks(now_ms);
  BLOOMRING_TRY(send_outbox());
  if (now_ms >= commit_due_ms_ || commit_due_ms_ - now_ms > config_.commit_interval_ms) {
    commit_due_ms_ = now_ms + config_.commit_interval_ms;
    commit();
  }
  return worked_;
}

Status IngestTask::take_acks() {
  acks_.clear();
  BLOOMRING_TRY(sink_->poll_acks(acks_));
  worked_ |= !acks_.empty();
  for (const uint64_t ack : acks_) in_flight_.erase(ack);
  if (!acks_.empty()) fault_point("ingest.acknowledged");
  return {};
}

Status IngestTask::read(int64_t now_ms) {
  size_t idle = 0;
  for (size_t i = 0; i < config_.records_per_step && idle < inputs_.size() && room();) {
    const size_t input = next_input_ % inputs_.size();
    // A run of records of one input at a time: its buffers are warm.
    constexpr size_t kRun = 256;
    size_t run = 0;
    for (; run < kRun && room(); ++run) {
      BLOOMRING_TRY_ASSIGN(const std::optional<LogRecord> record, inputs_[input].source->poll());
      if (!record) break;
      take_record(input, *record, now_ms);
    }
    i += run;
    worked_ |= run > 0;
    idle = run == 0 ? idle + 1 : 0;
    ++next_input_;
  }
  return {};
}

void IngestTask::take_record(size_t input, const LogRecord& record, int64_t now_ms) {
  const Ingest::Taken& taken = ingest_.take(record.value, now_ms);
  inputs_[input].next = Offset(record.offset.value + 1);
  if (taken.refusal != Refusal::kNone) {
    const RecordOrigin origin{"ingest", inputs_[input].topic, inputs_[input].partition};
    Outgoing letter{dead_letter(config_.dead_topic, origin, record, taken.refusal, ingest_.detail(), now_ms), {}};
    note(letter.firsts, input, record.offset);
    outbox_.push_back(std::move(letter));
    ++dead_letters_;
    return;
  }
  if (!taken.packed) return;
  note(open_firsts_[static_cast<size_t>(taken.partition.value)], input, record.offset);
  if (taken.full) close_block(taken.partition);
}

void IngestTask::note(Firsts& firsts, size_t input, Offset offset) {
  if (firsts.size() <= input) firsts.resize(inputs_.size(), kNothing);
  if (firsts[input] == kNothing) firsts[input] = offset.value;
}

void IngestTask::close_block(PartitionId partition) {
  std::string block = ingest_.close_block(partition);
  if (block.empty()) return;
  Firsts& firsts = open_firsts_[static_cast<size_t>(partition.value)];
  outbox_.push_back({{config_.events_topic, partition, {}, std::move(block), {}}, std::move(firsts)});
  firsts.clear();
}

void IngestTask::close_due_blocks(int64_t now_ms) {
  if (releasing_) {
    for (size_t i = 0; i < open_firsts_.size(); ++i) close_block(PartitionId(static_cast<int32_t>(i)));
    return;
  }
  for (const PartitionId partition : ingest_.due(now_ms)) close_block(partition);
}

Status IngestTask::send_outbox() {
  while (!outbox_.empty()) {
    const Status sent = sink_->send(outbox_.front().record, next_ticket_);
    if (sent.code() == Code::kRetry) return {};
    BLOOMRING_TRY(Status(sent));
    worked_ = true;
    in_flight_.emplace(next_ticket_++, std::move(outbox_.front().firsts));
    outbox_.pop_front();
    fault_point("ingest.block_sent");
  }
  return {};
}

void IngestTask::commit() {
  Firsts held(inputs_.size(), kNothing);
  const auto hold = [&](const Firsts& firsts) {
    for (size_t i = 0; i < firsts.size(); ++i) held[i] = std::min(held[i], firsts[i]);
  };
  for (const Firsts& firsts : open_firsts_) hold(firsts);
  for (const Outgoing& outgoing : outbox_) hold(outgoing.firsts);
  for (const auto& [ticket, firsts] : in_flight_) hold(firsts);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Input& input = inputs_[i];
    const Offset safe(std::min(held[i], input.next.value));
    if (safe <= input.committed || safe.value < 0) continue;
    input.source->commit(safe);
    input.committed = safe;
    fault_point("ingest.committed");
  }
}

bool IngestTask::nothing_open() const {
  for (size_t i = 0; i < open_firsts_.size(); ++i) {
    if (ingest_.block_open(PartitionId(static_cast<int32_t>(i)))) return false;
  }
  return true;
}

void IngestTask::drop_sources(bool lost) {
  if (!lost) commit();
  inputs_.clear();
  if (!settled()) ingest_.start_over();
  outbox_.clear();
  for (Firsts& firsts : open_firsts_) firsts.clear();
  for (auto& [ticket, firsts] : in_flight_) firsts.clear();  // What is on its way stays on its way, perhaps in vain.
  releasing_ = false;
}

std::vector<IngestTask::SourceView> IngestTask::sources() const {
  std::vector<SourceView> views;
  for (const Input& input : inputs_) {
    views.push_back({input.topic, input.partition, input.next, input.committed, input.source->log_end()});
  }
  return views;
}

}  // namespace bloomring
