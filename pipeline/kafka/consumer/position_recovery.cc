#include "pipeline/kafka/consumer/position_recovery.h"

#include <algorithm>

#include "base/log.h"
#include "pipeline/kafka/consumer/partition_lookup.h"
#include "pipeline/kafka/lookup.h"

namespace bloomring::kafka {
namespace {

constexpr int kAskTimeoutMs = 400;  // Of each of three requests, and one more when one of them fails.
constexpr int64_t kAskIntervalNs = 200'000'000;
constexpr int64_t kAssignIntervalNs = 1'000'000'000;
// Longer than a broker that was stopped believes that it leads: it hears of its successor within a request.
constexpr int64_t kBeyondPatienceNs = 30'000'000'000;
constexpr int64_t kWarnIntervalNs = 30'000'000'000;

std::string not_in_log(const Position& position, const PartitionFacts& log) {
  return to_string(position.at()) + ": the log no longer has offset " + std::to_string(position.next().value) +
         "; it holds [" + std::to_string(log.log_start.value) + ", " + std::to_string(log.log_end.value) + "): ";
}

Offset read_again_from(const Position& position, const PartitionFacts& log) {
  const Offset from = position.one_before();
  return from == kLogStart ? from : std::max(log.log_start, from);
}

}  // namespace

Offset Position::one_before() const {
  const int64_t last = last_.load(std::memory_order_acquire);
  if (last >= 0) return Offset(last);
  const Offset at = next();
  return at == kLogStart ? at : Offset(std::max<int64_t>(at.value - 1, 0));
}

void Position::returned(Offset offset) {
  last_.store(offset.value, std::memory_order_release);
  next_.store(offset.value + 1, std::memory_order_release);
  confirm();
}

void Position::reached(Offset end) {
  if (end < next()) return;  // The end of a repeated read.
  next_.store(end.value, std::memory_order_release);
  confirm();
}

void Position::go_back(Offset offset) {
  last_.store(-1, std::memory_order_release);
  next_.store(offset.value, std::memory_order_release);
  doubt();
}

void Position::confirm() {
  if (state_.load(std::memory_order_relaxed) != State::kSound) state_.store(State::kSound, std::memory_order_release);
}

void Position::lose(std::string why) {
  why_lost_ = std::move(why);
  state_.store(State::kLost, std::memory_order_release);
}

void PositionRecovery::add(std::shared_ptr<Position> position, Offset start) {
  position->begin(start);
  tracked_.push_back({std::move(position), std::nullopt});
}

Status PositionRecovery::assign(int64_t steady_ns) {
  assign_due_ = steady_ns < assign_at_ns_;
  return assign_due_ ? Status() : assign_now(steady_ns);
}

Status PositionRecovery::assign_now(int64_t steady_ns) {
  std::vector<Offset> starts;
  for (const Tracked& tracked : tracked_) starts.push_back(tracked.position->next());
  return assign_from(starts, steady_ns);
}

Status PositionRecovery::assign_from(const std::vector<Offset>& starts, int64_t steady_ns) {
  assign_due_ = false;
  assign_at_ns_ = steady_ns + kAssignIntervalNs;
  const PartitionListHandle list(rd_kafka_topic_partition_list_new(static_cast<int>(tracked_.size())));
  for (size_t i = 0; i < tracked_.size(); ++i) {
    const TopicPartition& at = tracked_[i].position->at();
    if (removed_.contains(at)) {
      assign_due_ = true;
      continue;
    }
    tracked_[i].position->assign();
    rd_kafka_topic_partition_list_add(list.get(), at.topic.c_str(), at.partition.value)->offset = starts[i].value;
  }
  removed_.clear();
  const auto error = rd_kafka_assign(client_, list.get());
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  return fatal(std::string("cannot assign: ") + rd_kafka_err2str(error));
}

void PositionRecovery::remove(const TopicPartition& at) {
  const auto is_there = [&](const Tracked& tracked) { return tracked.position->at() == at; };
  if (std::erase_if(tracked_, is_there) > 0) removed_.insert(at);
}

void PositionRecovery::clear() {
  tracked_.clear();
  removed_.clear();
  assign_due_ = false;
  assign_at_ns_ = INT64_MIN;  // The group waits for partitions to stop.
  rd_kafka_assign(client_, nullptr);
}

// Does not repeat an assignment that the group has taken away: that would hide that it was lost.
Status PositionRecovery::serve(int64_t steady_ns) {
  if (steady_ns < assign_at_ns_ || rd_kafka_assignment_lost(client_) != 0) return {};
  if (assign_due_) return assign_now(steady_ns);
  if (!any_doubted() || steady_ns < ask_at_ns_) return {};
  ask_at_ns_ = steady_ns + kAskIntervalNs;
  learn_leaders(client_, kAskTimeoutMs);
  const auto logs = query_facts(client_, bootstrap_, partitions(), Ask::kLog, kAskTimeoutMs);
  warn_of_unknown(logs, steady_ns);
  if (rd_kafka_assignment_lost(client_) != 0) return {};
  bool placed = false;
  std::vector<Offset> starts;
  for (size_t i = 0; i < tracked_.size(); ++i) {
    if (tracked_[i].doubted() && logs[i].ok() && judge(tracked_[i], *logs[i], steady_ns)) placed = true;
    starts.push_back(logs[i].ok() ? read_again_from(*tracked_[i].position, *logs[i]) : tracked_[i].position->next());
  }
  if (!placed) return {};
  ask_at_ns_ = steady_ns + kAssignIntervalNs;
  return assign_from(starts, steady_ns);
}

bool PositionRecovery::any_doubted() {
  bool any = false;
  for (Tracked& tracked : tracked_) {
    any |= tracked.doubted();
    if (tracked.position->state() == Position::State::kSound) tracked.beyond_since_ns.reset();
  }
  return any;
}

std::vector<TopicPartition> PositionRecovery::partitions() const {
  std::vector<TopicPartition> partitions;
  for (const Tracked& tracked : tracked_) partitions.push_back(tracked.position->at());
  return partitions;
}

// A partition whose topic is gone waits, too: only time distinguishes that from brokers that are away.
void PositionRecovery::warn_of_unknown(const std::vector<Result<PartitionFacts>>& logs, int64_t steady_ns) {
  if (steady_ns < warn_at_ns_) return;
  for (size_t i = 0; i < tracked_.size(); ++i) {
    if (!tracked_[i].doubted() || logs[i].ok()) continue;
    warn_at_ns_ = steady_ns + kWarnIntervalNs;
    const TopicPartition& at = tracked_[i].position->at();
    log_warning("kafka: a partition waits for brokers to tell where the log begins and ends",
                {{"topic", at.topic},
                 {"partition", at.partition.value},
                 {"offset", tracked_[i].position->next().value},
                 {"code", code_name(logs[i].code())},
                 {"reason", logs[i].status().message()}});
  }
}

bool PositionRecovery::judge(Tracked& tracked, const PartitionFacts& log, int64_t steady_ns) {
  Position& position = *tracked.position;
  const int64_t next = position.next().value;
  if (next != kLogStart.value && next < log.log_start.value) {
    position.lose(not_in_log(position, log) + "retention has removed " + std::to_string(log.log_start.value - next) +
                  " records before they were read");
    return false;
  }
  if (next > log.log_end.value) {
    if (!tracked.beyond_since_ns) tracked.beyond_since_ns = steady_ns;
    if (steady_ns - *tracked.beyond_since_ns < kBeyondPatienceNs) return false;
    position.lose(not_in_log(position, log) + "the topic was cut or made again, and " +
                  std::to_string(next - log.log_end.value) + " records or more are lost");
    return false;
  }
  log_info("kafka: a partition is read on", {{"topic", position.at().topic},
                                             {"partition", position.at().partition.value},
                                             {"offset", next},
                                             {"log_start", log.log_start.value},
                                             {"log_end", log.log_end.value}});
  position.placed();
  return true;
}

}  // namespace bloomring::kafka
