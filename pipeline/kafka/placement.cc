#include "pipeline/kafka/placement.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "pipeline/kafka/lookup.h"

namespace bloomring::kafka {
namespace {

constexpr int kAskTimeoutMs = 1000;  // Of each of three requests.
constexpr int64_t kAskIntervalNs = 200'000'000;
// Longer than a broker takes itself for the leader after it stood still: it hears of its successor within a request.
constexpr int64_t kBeyondPatienceNs = 30'000'000'000;

std::string not_in_log(const Position& position, const PartitionFacts& log) {
  return to_string(position.at()) + ": the log no longer has offset " + std::to_string(position.next().value) +
         "; it holds [" + std::to_string(log.log_start.value) + ", " + std::to_string(log.log_end.value) + "): ";
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
  held_.push_back({std::move(position), std::nullopt, std::nullopt});
}

Status Placement::assign() {
  const PartitionListHandle list(rd_kafka_topic_partition_list_new(static_cast<int>(held_.size())));
  for (Held& held : held_) {
    const TopicPartition& at = held.position->at();
    const Offset start = std::exchange(held.resume, std::nullopt).value_or(held.position->next());
    rd_kafka_topic_partition_list_add(list.get(), at.topic.c_str(), at.partition.value)->offset = start.value;
  }
  const auto error = rd_kafka_assign(client_, list.get());
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  return fatal(std::string("cannot assign: ") + rd_kafka_err2str(error));
}

void Placement::clear() {
  held_.clear();
  rd_kafka_assign(client_, nullptr);
}

// An assignment that the group has taken away is not made anew.
Status Placement::serve(int64_t steady_ns) {
  const std::vector<Held*> doubted = this->doubted();
  if (doubted.empty() || steady_ns < ask_at_ns_) return {};
  ask_at_ns_ = steady_ns + kAskIntervalNs;
  std::vector<TopicPartition> partitions;
  for (const Held* held : doubted) partitions.push_back(held->position->at());
  learn_leaders(client_, kAskTimeoutMs);
  const auto logs = query_facts(client_, bootstrap_, partitions, Ask::kLog, kAskTimeoutMs);
  if (!logs.ok() || rd_kafka_assignment_lost(client_) != 0) return {};
  for (size_t i = 0; i < doubted.size(); ++i) judge(*doubted[i], (*logs)[i], steady_ns);
  const auto placed = [](const Held& held) { return held.resume.has_value(); };
  return std::any_of(held_.begin(), held_.end(), placed) ? assign() : Status();
}

std::vector<Placement::Held*> Placement::doubted() {
  std::vector<Held*> doubted;
  for (Held& held : held_) {
    if (held.position->state() == Position::State::kDoubted) {
      doubted.push_back(&held);
    } else {
      held.beyond_since_ns.reset();
    }
  }
  return doubted;
}

// The last record that was returned is read once more, for the source to see that this is still the same log.
void Placement::judge(Held& held, const PartitionFacts& log, int64_t steady_ns) {
  Position& position = *held.position;
  const int64_t next = position.next().value;
  const bool begun = next >= 0;
  if (begun && next < log.log_start.value) {
    return position.lose(not_in_log(position, log) + "retention has removed " +
                         std::to_string(log.log_start.value - next) + " records before they were read");
  }
  if (next > log.log_end.value) {
    if (!held.beyond_since_ns) held.beyond_since_ns = steady_ns;
    if (steady_ns - *held.beyond_since_ns < kBeyondPatienceNs) return;
    return position.lose(not_in_log(position, log) + "the topic was cut or made anew, and " +
                         std::to_string(next - log.log_end.value) + " records or more are lost");
  }
  held.beyond_since_ns.reset();
  held.resume = begun ? std::max(log.log_start, Offset(next - 1)) : log.log_start;
  spdlog::info("kafka: {} is read on from offset {}; its log holds [{}, {})", to_string(position.at()), next,
               log.log_start.value, log.log_end.value);
  position.placed();
}

}  // namespace bloomring::kafka
