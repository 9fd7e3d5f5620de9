#include "pipeline/tasks/ingest_task.h"

#include <algorithm>
#include <functional>

#include "base/faults/fault_point.h"
#include "base/hash.h"
#include "pipeline/tasks/dead_letter.h"
#include "schemas/event_block.h"
#include "serving/query/known_scenes.h"

namespace bloomring {

namespace {

// The user of the serve that is written to learn the brokers' time. No filter takes serves.
const UserKey nobody(uint64_t number) { return UserKey(kClockScene, std::to_string(number % 100)); }

}  // namespace

IngestTask::IngestTask(IngestTaskConfig config, const Clock& clock, std::unique_ptr<Sink> sink)
    : config_(std::move(config)),
      clock_(clock),
      sink_(std::move(sink)),
      ingest_clock_(config_.clock_skew_max_ms),
      ingest_(config_.ingest),
      lanes_(config_.ingest.partition_count, config_.lane_in_flight_max, config_.lane_patience_ms),
      open_firsts_(config_.ingest.partition_count),
      open_not_before_ms_(config_.ingest.partition_count) {
  if (!sink_->broker_time_ms()) ingest_clock_.acknowledged_unstamped();
}

void IngestTask::add_source(std::string topic, PartitionId partition, Offset start, std::unique_ptr<Source> source) {
  inputs_.push_back({std::move(topic), partition, std::move(source), start});
  inputs_.back().read_to = start.value;
  releasing_ = false;
}

Result<bool> IngestTask::step(int64_t now_ms) {
  worked_ = false;
  BLOOMRING_TRY(take_acks(now_ms));
  BLOOMRING_TRY(send_outbox());
  if (!releasing_) open_lanes();
  if (!releasing_ && !room()) shut_lanes();
  judged_at_ms_ = steady_ms();
  judged_ = ingest_clock_.now(now_ms, judged_at_ms_);
  if (!releasing_ && ingest_clock_.may_judge()) BLOOMRING_TRY(read());
  if (!releasing_) ask_time(now_ms);
  close_due_blocks(judged_.earliest_ms);
  BLOOMRING_TRY(send_outbox());
  if (now_ms >= commit_due_ms_ || commit_due_ms_ - now_ms > config_.commit_interval_ms) {
    commit_due_ms_ = now_ms + config_.commit_interval_ms;
    commit();
  }
  return worked_;
}

Status IngestTask::take_acks(int64_t wall_ms) {
  acks_.clear();
  BLOOMRING_TRY(sink_->poll_acks(acks_));
  worked_ |= !acks_.empty();
  bool unstamped = false;
  int64_t sent_ms = steady_ms();
  for (const uint64_t ack : acks_) {
    const auto found = in_flight_.find(ack);
    if (found == in_flight_.end()) continue;
    sent_ms = std::min(sent_ms, found->second.sent_ms);
    unstamped |= found->second.tells_the_time;
    lanes_.acknowledge(found->second.lane, steady_ms());
    in_flight_.erase(found);
  }
  const int64_t broker_ms = sink_->broker_time_ms().value_or(0);
  if (!acks_.empty() && broker_ms >= kEventTimeMinMs) {  // The embedded broker stamps 1970.
    ingest_clock_.acknowledged(broker_ms, sent_ms, wall_ms, steady_ms());
  } else if (unstamped) {
    ingest_clock_.acknowledged_unstamped();
  }
  if (!acks_.empty()) fault_point("ingest.acknowledged");
  return {};
}

Status IngestTask::read() {
  size_t idle = 0;
  for (size_t i = 0; i < config_.records_per_step && idle < inputs_.size() && room();) {
    const size_t input = next_input_ % inputs_.size();
    // Reads runs of records from one input: its buffers stay in the cache.
    constexpr size_t kRun = 256;
    size_t run = 0;
    for (; run < kRun && room(); ++run) {
      BLOOMRING_TRY_ASSIGN(const std::optional<LogRecord> record, inputs_[input].source->poll());
      if (!record) break;
      take_record(input, *record);
    }
    if (!inputs_[input].unpacked.empty()) caught_up(inputs_[input]);
    i += run;
    worked_ |= run > 0;
    idle = run == 0 ? idle + 1 : 0;
    ++next_input_;
  }
  return {};
}

// Asks at once when there are records to read; then at intervals.
void IngestTask::ask_time(int64_t wall_ms) {
  const bool off = ingest_clock_.state() == IngestClock::State::kOff;
  if (ingest_clock_.may_judge() || (!off && !more_to_read())) return;
  if (!room() || steady_ms() < ask_time_at_ms_) return;
  const UserKey key = nobody(times_asked_++);
  const UserRef user(key.bytes());
  const PartitionId partition = partition_of(user.shard(), config_.ingest.partition_count);
  if (lanes_.shut(static_cast<size_t>(partition.value))) return;  // The next user may be in another partition.
  ask_time_at_ms_ = steady_ms() + config_.ask_time_interval_ms;
  EventBlockBuilder block;
  const int64_t time_ms = std::clamp(wall_ms, kEventTimeMinMs, kEventTimeEndMs - 1);
  block.add(user, {EventKind::kServe, ItemHash(0), time_ms});
  enqueue({static_cast<size_t>(partition.value),
           {config_.events_topic, partition, {}, block.finish(partition, config_.ingest.partition_count), {}},
           {}});
}

void IngestTask::enqueue(Outgoing outgoing) {
  lanes_.queue(outgoing.lane, steady_ms());
  outbox_.push_back(std::move(outgoing));
}

bool IngestTask::wants(Input& input, int64_t offset, bool again, PartitionId partition) {
  const auto lane = static_cast<size_t>(partition.value);
  if (input.unpacked.empty()) input.unpacked.resize(config_.ingest.partition_count, kNothing);
  int64_t& unpacked = input.unpacked[lane];
  if (again && offset < unpacked) return false;
  if (lanes_.shut(lane)) {
    unpacked = std::min(unpacked, offset);
    return false;
  }
  if (unpacked != kNothing) unpacked = offset + 1;
  return true;
}

void IngestTask::caught_up(Input& input) {
  if (input.position().value < input.read_to) return;
  bool all = true;
  for (size_t i = 0; i < input.unpacked.size(); ++i) {
    if (!lanes_.shut(i)) input.unpacked[i] = kNothing;
    all &= input.unpacked[i] == kNothing;
  }
  if (all) input.unpacked.clear();
}

void IngestTask::open_lanes() {
  for (const size_t lane : lanes_.open_again()) {
    for (Input& input : inputs_) {
      if (input.unpacked.empty() || input.unpacked[lane] >= input.position().value) continue;
      input.source->go_back(Offset(input.unpacked[lane]));
    }
  }
}

void IngestTask::shut_lanes() {
  for (const size_t lane : lanes_.shut_stalled(steady_ms())) close_block(PartitionId(static_cast<int32_t>(lane)));
}

std::vector<PartitionId> IngestTask::passed_over() const {
  std::vector<PartitionId> partitions;
  for (size_t i = 0; i < lanes_.letters(); ++i) {
    if (lanes_.shut(i)) partitions.push_back(PartitionId(static_cast<int32_t>(i)));
  }
  return partitions;
}

IngestTime IngestTask::time_of(const LogRecord& record) const {
  if (!config_.history || record.log_time_ms < kEventTimeMinMs || record.log_time_ms > judged_.earliest_ms)
    return judged_;
  return IngestTime::at(record.log_time_ms);
}

void IngestTask::take_block(size_t input, const LogRecord& record) {
  Input& at = inputs_[input];
  BLOOMRING_CHECK(!lanes_.any_shut(), "blocks are not read while a partition is passed over");
  at.read_to = std::max(at.read_to, record.offset.value + 1);
  auto block = EventBlockReader::open(record.value, at.partition, config_.block_partitions);
  if (!block.ok()) {
    ingest_.count_refused(Refusal::kBadBlock);
    return refuse(input, record, Refusal::kBadBlock, block.status().message());
  }
  const IngestTime judge = time_of(record);
  while (block->next_user()) {
    const UserRef user = block->user();
    while (block->next_event()) note_packed(input, record, ingest_.take_event(user, block->event(), judged_, judge));
  }
}

void IngestTask::take_record(size_t input, const LogRecord& record) {
  if (config_.form == IngestTaskConfig::Form::kBlocks) return take_block(input, record);
  Input& at = inputs_[input];
  const bool gated = lanes_.any_shut() || !at.unpacked.empty();
  const int64_t offset = record.offset.value;
  const bool again = offset < at.read_to;
  const auto wanted = [&](PartitionId partition) { return wants(at, offset, again, partition); };
  const Ingest::Gate gate{again, std::ref(wanted)};
  const IngestTime judge = time_of(record);
  const Ingest::Outcome& taken = ingest_.take(record.value, judged_, gated ? &gate : nullptr, &judge);
  at.read_to = std::max(at.read_to, offset + 1);
  if (again && taken.refusal != Refusal::kNone) return;
  if (taken.refusal != Refusal::kNone) return refuse(input, record, taken.refusal, ingest_.detail());
  note_packed(input, record, taken);
}

void IngestTask::refuse(size_t input, const LogRecord& record, Refusal refusal, const std::string& detail) {
  const Input& at = inputs_[input];
  const RecordOrigin origin{config_.stage, at.topic, at.partition};
  Outgoing letter{lanes_.letters(),
                  dead_letter(config_.dead_topic, origin, record, refusal, detail, judged_.earliest_ms,
                              at.source->headers()),
                  {}};
  if (!first_refused_) first_refused_ = RefusedRecord{at.topic, at.partition, record.offset, refusal, detail};
  note(letter.firsts, input, record.offset);
  enqueue(std::move(letter));
}

void IngestTask::note_packed(size_t input, const LogRecord& record, const Ingest::Outcome& taken) {
  if (!taken.packed) return;
  const auto lane = static_cast<size_t>(taken.partition.value);
  note(open_firsts_[lane], input, record.offset);
  const int64_t passed_ms = judged_at_ms_ + taken.time_ms - judged_.earliest_ms;
  open_not_before_ms_[lane] = std::max(open_not_before_ms_[lane], passed_ms);
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
  enqueue({static_cast<size_t>(partition.value),
           {config_.events_topic, partition, {}, std::move(block), {}},
           std::move(firsts),
           std::exchange(open_not_before_ms_[static_cast<size_t>(partition.value)], 0)});
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
  std::vector<size_t> full;  // Lanes that take nothing more now.
  for (size_t i = 0; i < outbox_.size();) {
    Outgoing& out = outbox_[i];
    const size_t lane = out.lane;
    const bool waits = !lanes_.may_send(lane) || std::ranges::find(full, lane) != full.end();
    if (waits || steady_ms() < out.not_before_ms) {
      if (!waits) full.push_back(lane);  // Those behind it wait, too.
      ++i;
      continue;
    }
    const Status sent = sink_->send(out.record, next_ticket_);
    if (sent.code() == Code::kRetry) {
      full.push_back(lane);
      ++i;
      continue;
    }
    BLOOMRING_TRY(Status(sent));
    worked_ = true;
    lanes_.send(lane);
    in_flight_.emplace(next_ticket_++, InFlight{lane, std::move(out.firsts), steady_ms(), lane != lanes_.letters()});
    outbox_.erase(outbox_.begin() + static_cast<std::ptrdiff_t>(i));
    fault_point("ingest.block_sent");
  }
  return {};
}

void IngestTask::commit() {
  Firsts unacknowledged(inputs_.size(), kNothing);
  const auto include = [&](const Firsts& firsts) {
    for (size_t i = 0; i < firsts.size(); ++i) unacknowledged[i] = std::min(unacknowledged[i], firsts[i]);
  };
  for (size_t i = 0; i < inputs_.size(); ++i) {
    for (const int64_t unpacked : inputs_[i].unpacked) unacknowledged[i] = std::min(unacknowledged[i], unpacked);
  }
  for (const Firsts& firsts : open_firsts_) include(firsts);
  for (const Outgoing& outgoing : outbox_) include(outgoing.firsts);
  for (const auto& [ticket, flight] : in_flight_) include(flight.firsts);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Input& input = inputs_[i];
    const Offset safe(std::min(unacknowledged[i], input.position().value));
    if (safe <= input.committed || safe.value < 0) continue;
    input.source->commit(safe);
    input.committed = safe;
    fault_point("ingest.committed");
  }
}

bool IngestTask::more_to_read() const {
  return std::ranges::any_of(inputs_, [](const Input& input) { return input.source->log_end() > input.next(); });
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
  ingest_clock_.doubt();
  if (!settled()) ingest_.start_over();
  outbox_.clear();
  lanes_.drop_queued();
  for (Firsts& firsts : open_firsts_) firsts.clear();
  std::ranges::fill(open_not_before_ms_, 0);
  // Records in flight cannot be recalled; their acknowledgements no longer matter.
  for (auto& [ticket, flight] : in_flight_) flight.firsts.clear();
  releasing_ = false;
}

std::vector<IngestTask::SourceView> IngestTask::sources() const {
  std::vector<SourceView> views;
  for (const Input& input : inputs_) {
    const Offset committed = std::max(input.committed, input.start);
    views.push_back({input.topic, input.partition, input.next(), committed, input.source->log_end()});
  }
  return views;
}

}  // namespace bloomring
