#include "pipeline/jobs/letters/letter_replay.h"

#include <algorithm>
#include <array>

#include "base/faults/fault_point.h"
#include "base/hash.h"
#include "base/log.h"
#include "pipeline/jobs/letters/replay_plan.h"
#include "schemas/refusal.h"

namespace bloomring {

namespace {

constexpr std::array<std::string_view, 6> kDifferences = {"refused_again", "too_often",   "no_topic",
                                                          "original_gone", "not_written", "lost"};

// The record goes where it was, or where a producer could have put it.
PartitionId partition_for(const Letter& letter, const std::string& topic, int32_t partitions) {
  if (topic == letter.topic && letter.partition.value < partitions) return letter.partition;
  const auto number = letter.key.empty() ? static_cast<uint64_t>(letter.offset.value) : hash_bytes(letter.key, 0);
  return PartitionId(static_cast<int32_t>(number % static_cast<uint64_t>(partitions)));
}

}  // namespace

Result<JobPlan> LetterReplay::plan() {
  return plan_replay(config_.dead_topic, config_.selection, judge_, world_, clock_.now_ms());
}

Status LetterReplay::begin(const JobStart& start) {
  selection_ = config_.selection;
  for (const JobCount& one : start.counts) counts_[{one.name, one.reason}] = one.value;
  if (!start.position.empty()) {
    BLOOMRING_TRY_ASSIGN(position_, decode_position(start.position));
    selection_.since_ms = position_.since_ms;
    selection_.until_ms = position_.until_ms;
  }
  BLOOMRING_TRY_ASSIGN(superseded_, find_superseded(world_, selection_.since_ms));
  // Of a replay that goes on, the log's own start counts: that of the times is in its position.
  BLOOMRING_TRY_ASSIGN(const std::vector<LetterRange> held,
                       world_.held(start.position.empty() ? selection_.since_ms : std::nullopt));
  if (start.position.empty()) {
    position_ = {selection_.since_ms, selection_.until_ms, {}};
    for (const LetterRange& range : held)
      position_.parts.push_back({range.partition, range.from, range.from, range.to});
  }
  auto left = ranges_left(position_, held);
  if (!left.ok()) return std::move(left).status().with_context("topic " + config_.dead_topic);
  if (left->lost > 0) {
    counts_[{"lost", ""}] += left->lost;
    log_warning("letters were removed by retention before the replay came to them", {{"letters", left->lost}});
  }
  for (const ReplayPosition::Part& part : position_.parts) read_to_[part.partition] = part.next;
  BLOOMRING_TRY_ASSIGN(reader_, world_.read(left->ranges));
  return {};
}

Result<JobStep> LetterReplay::step(uint64_t units_max, int64_t now_ms) {
  BLOOMRING_TRY(take_outcomes());
  send_waiting();
  JobStep step;
  for (size_t reads = 0; reads < kReadsPerStepMax && step.units < units_max; ++reads) {
    if (flights_.size() >= kFlightMax || flight_bytes_ >= kFlightBytesMax || !waiting_.empty()) break;
    if (!held_) {
      BLOOMRING_TRY_ASSIGN(held_, reader_->next());
    }
    if (!held_) break;
    const bool selected = selects(selection_, *held_);
    if (selected) BLOOMRING_TRY(take(*held_, now_ms));
    read_to_[held_->partition] = Offset(held_->offset.value + 1);
    held_.reset();
    step.units += selected;
  }
  if (reader_->done() && !held_) {
    for (const ReplayPosition::Part& part : position_.parts) read_to_[part.partition] = part.to;
  }
  move_position();
  step.done = reader_->done() && !held_ && flights_.empty();
  return step;
}

Result<bool> LetterReplay::settle(int64_t) {
  BLOOMRING_TRY(take_outcomes());
  send_waiting();
  move_position();
  return flights_.empty();
}

// Changes nothing when it fails: the same record is taken again.
Status LetterReplay::take(DeadRecord& record, int64_t now_ms) {
  if (!record.letter) {
    count("foreign", "");
    return {};
  }
  Letter& letter = *record.letter;
  if (superseded_.contains(config_.dead_topic, record)) {
    count("superseded", known_reason(letter.reason));
    return {};
  }
  const LetterJudgement judgement = judge_.judge(letter, now_ms);
  switch (judgement.fate) {
    case Fate::kNoPlay: count("no_play", ""); break;
    case Fate::kNoTopic: count("no_topic", ""); break;
    case Fate::kTooOften: count("too_often", known_reason(letter.reason)); break;
    case Fate::kIgnored: count("ignored", known_reason(letter.reason)); break;
    case Fate::kRefused: count_refused({record.partition, record.offset}, judgement); break;
    case Fate::kReadWhole: return put_back_whole(record, letter, now_ms);
    case Fate::kPutBack: return put_back(record, letter, now_ms);
  }
  return {};
}

// Of a letter that was cut: with the original's bytes instead.
Status LetterReplay::put_back_whole(const DeadRecord& record, Letter& letter, int64_t now_ms) {
  BLOOMRING_TRY_ASSIGN(std::optional<kafka::FetchedRecord> whole, world_.original(letter));
  if (!whole || !letter.is_part_of(whole->value)) {
    count("original_gone", known_reason(letter.reason));
    return {};
  }
  const LetterJudgement judgement = judge_.judge_value(whole->value, now_ms);
  if (judgement.fate == Fate::kRefused) {
    count_refused({record.partition, record.offset}, judgement);
    return {};
  }
  if (judgement.fate == Fate::kIgnored) {
    count("ignored", known_reason(letter.reason));
    return {};
  }
  letter.key = std::move(whole->key);
  letter.value = std::move(whole->value);
  letter.headers = std::move(whole->headers);
  letter.log_time_ms = whole->log_time_ms;
  BLOOMRING_TRY(put_back(record, letter, now_ms));
  count("read_whole", known_reason(letter.reason));
  return {};
}

Status LetterReplay::put_back(const DeadRecord& record, Letter& letter, int64_t now_ms) {
  const std::string& topic = judge_.target(letter);
  BLOOMRING_TRY_ASSIGN(const TargetTopic* const to, target(topic));
  const PartitionId partition = partition_for(letter, topic, to->partitions);
  const std::string from = letter_place(config_.dead_topic, record.partition, record.offset);
  Flight flight{.place = {record.partition, record.offset}, .reason = std::string(known_reason(letter.reason))};
  flight.record = put_back_record(topic, partition, std::move(letter.key), std::move(letter.value), letter.headers,
                                  letter.replays + 1, from);
  flight.record.time_ms = time_to_write(letter.log_time_ms, now_ms, to->kept_ms, to->behind_max_ms);
  flight.bytes = flight.record.key.size() + flight.record.value.size();
  flight_bytes_ += flight.bytes;
  open_[record.partition].insert(record.offset);
  waiting_.insert(next_ticket_);
  flights_.emplace(next_ticket_++, std::move(flight));
  send_waiting();
  return {};
}

void LetterReplay::send_waiting() {
  for (const uint64_t ticket : std::exchange(waiting_, {})) {
    world_.write(flights_.at(ticket).record, [mailbox = mailbox_, ticket](const Result<kafka::WrittenPlace>& place) {
      const std::lock_guard lock(mailbox->mutex);
      mailbox->outcomes.push_back({ticket, place.code(), place.status().message()});
    });
    fault_point("letters.sent");
  }
}

Status LetterReplay::take_outcomes() {
  std::vector<Outcome> outcomes;
  {
    const std::lock_guard lock(mailbox_->mutex);
    outcomes = std::exchange(mailbox_->outcomes, {});
  }
  for (Outcome& outcome : outcomes) {
    const auto found = flights_.find(outcome.ticket);
    Flight& flight = found->second;
    switch (outcome.code) {
      case Code::kOk:
        count("put_back", flight.reason);
        if (!flight.record.time_ms) count("new_time", "");
        break;
      case Code::kRetry: waiting_.insert(outcome.ticket); continue;
      case Code::kBadRecord:
        count("not_written", flight.reason);
        log_warning("a letter's record was not put back", {{"reason", outcome.message},
                                                           {"partition", flight.place.partition.value},
                                                           {"offset", flight.place.offset.value}});
        break;
      default: return Status(outcome.code, std::move(outcome.message));
    }
    flight_bytes_ -= flight.bytes;
    open_[flight.place.partition].erase(flight.place.offset);
    flights_.erase(found);
  }
  if (!outcomes.empty()) fault_point("letters.acknowledged");
  return {};
}

void LetterReplay::move_position() {
  for (ReplayPosition::Part& part : position_.parts) {
    const std::set<Offset>& open = open_[part.partition];
    part.next = open.empty() ? read_to_[part.partition] : *open.begin();
  }
}

Result<const TargetTopic*> LetterReplay::target(const std::string& topic) {
  if (const auto known = targets_.find(topic); known != targets_.end()) return &known->second;
  BLOOMRING_TRY_ASSIGN(TargetTopic found, world_.target(topic));
  return &targets_.emplace(topic, std::move(found)).first->second;
}

void LetterReplay::count_refused(const Place& place, const LetterJudgement& judgement) {
  count("refused_again", refusal_name(judgement.refusal));
  if (!told_.insert(judgement.refusal).second) return;
  log_warning("a letter would be refused again and is not put back",
              {{"reason", refusal_name(judgement.refusal)},
               {"message", judgement.detail},
               {"partition", place.partition.value},
               {"offset", place.offset.value}});
}

JobCounts LetterReplay::counts() const {
  JobCounts list;
  for (const auto& [name, value] : counts_) list.push_back({name.first, name.second, value});
  return list;
}

bool LetterReplay::differences() const {
  return std::ranges::any_of(counts_, [](const auto& one) {
    return one.second > 0 && std::ranges::find(kDifferences, one.first.first) != kDifferences.end();
  });
}

}  // namespace bloomring
