#include "pipeline/kafka/placement.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "pipeline/kafka/lookup.h"

namespace bloomring::kafka {
namespace {

constexpr int kAskTimeoutMs = 400;  // Of each of three requests, and one more when one of them fails.
constexpr int64_t kAskIntervalNs = 200'000'000;
constexpr int64_t kAssignIntervalNs = 1'000'000'000;
// Longer than a broker takes itself for the leader after it stood still: it hears of its successor within a request.
constexpr int64_t kBeyondPatienceNs = 30'000'000'000;
constexpr int64_t kWarnIntervalNs = 30'000'000'000;

std::string not_in_log(const Position& position, const PartitionFacts& log) {
  return to_string(position.at()) + ": the log no longer has offset " + std::to_string(position.next().value) +
         "; it holds [" + std::to_string(log.log_start.value) + ", " + std::to_string(log.log_end.value) + "): ";
}

Offset one_before(const Position& position, const PartitionFacts& log) {
  const Offset next = position.next();
  return next == kLogStart ? next : std::max(log.log_start, Offset(next.value - 1));
}

}  // namespace

void Position::returned(Offset offset) {
  next_.store(offset.value + 1, std::memory_order_release);
  confirm();
}

void Position::confirm() {
  if (state_.load(std::memory_order_relaxed) != State::kSound) state_.store(State::kSound, std::memory_order_release);
}

void Position::lose(std::string why) {
  why_lost_ = std::move(why);
  state_.store(State::kLost, std::memory_order_release);
}

void Placement::add(std::shared_ptr<Position> position, Offset start) {
  position->begin(start);
  held_.push_back({std::move(position), std::nullopt});
}

Status Placement::assign() {
  std::vector<Offset> starts;
  for (const Held& held : held_) starts.push_back(held.position->next());
  return assign_from(starts);
}

Status Placement::assign_from(const std::vector<Offset>& starts) {
  const PartitionListHandle list(rd_kafka_topic_partition_list_new(static_cast<int>(held_.size())));
  for (size_t i = 0; i < held_.size(); ++i) {
    const TopicPartition& at = held_[i].position->at();
    rd_kafka_topic_partition_list_add(list.get(), at.topic.c_str(), at.partition.value)->offset = starts[i].value;
  }
  const auto error = rd_kafka_assign(client_, list.get());
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  return fatal(std::string("cannot assign: ") + rd_kafka_err2str(error));
}

void Placement::clear() {
  held_.clear();
  rd_kafka_assign(client_, nullptr);
}

// An assignment that the group has taken away is not made anew, which would make it look as if it were not lost.
Status Placement::serve(int64_t steady_ns) {
  if (!any_doubted() || steady_ns < ask_at_ns_) return {};
  ask_at_ns_ = steady_ns + kAskIntervalNs;
  learn_leaders(client_, kAskTimeoutMs);
  const auto logs = query_facts(client_, bootstrap_, partitions(), Ask::kLog, kAskTimeoutMs);
  if (!logs.ok()) warn_of_unknown(logs.status(), steady_ns);
  if (!logs.ok() || rd_kafka_assignment_lost(client_) != 0) return {};
  bool placed = false;
  std::vector<Offset> starts;
  for (size_t i = 0; i < held_.size(); ++i) {
    if (held_[i].doubted() && judge(held_[i], (*logs)[i], steady_ns)) placed = true;
    starts.push_back(one_before(*held_[i].position, (*logs)[i]));
  }
  if (!placed) return {};
  ask_at_ns_ = steady_ns + kAssignIntervalNs;
  return assign_from(starts);
}

bool Placement::any_doubted() {
  bool any = false;
  for (Held& held : held_) {
    any |= held.doubted();
    if (held.position->state() == Position::State::kSound) held.beyond_since_ns.reset();
  }
  return any;
}

std::vector<TopicPartition> Placement::partitions() const {
  std::vector<TopicPartition> partitions;
  for (const Held& held : held_) partitions.push_back(held.position->at());
  return partitions;
}

// One whose topic is gone waits, too: brokers that are away are told apart from that only by time.
void Placement::warn_of_unknown(const Status& why, int64_t steady_ns) {
  if (steady_ns < warn_at_ns_) return;
  warn_at_ns_ = steady_ns + kWarnIntervalNs;
  for (const Held& held : held_) {
    if (!held.doubted()) continue;
    spdlog::warn("kafka: {} waits at offset {} for brokers to tell where the log begins and ends: {}",
                 to_string(held.position->at()), held.position->next().value, why.message());
  }
}

bool Placement::judge(Held& held, const PartitionFacts& log, int64_t steady_ns) {
  Position& position = *held.position;
  const int64_t next = position.next().value;
  if (next != kLogStart.value && next < log.log_start.value) {
    position.lose(not_in_log(position, log) + "retention has removed " + std::to_string(log.log_start.value - next) +
                  " records before they were read");
    return false;
  }
  if (next > log.log_end.value) {
    if (!held.beyond_since_ns) held.beyond_since_ns = steady_ns;
    if (steady_ns - *held.beyond_since_ns < kBeyondPatienceNs) return false;
    position.lose(not_in_log(position, log) + "the topic was cut or made anew, and " +
                  std::to_string(next - log.log_end.value) + " records or more are lost");
    return false;
  }
  spdlog::info("kafka: {} is read on from offset {}; its log holds [{}, {})", to_string(position.at()), next,
               log.log_start.value, log.log_end.value);
  position.placed();
  return true;
}

}  // namespace bloomring::kafka
