#include "pipeline/jobs/replay/kafka_replay_log.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "pipeline/kafka/admin.h"
#include "pipeline/runtime/wait.h"

namespace bloomring {

namespace {

constexpr int64_t kPatienceMs = 30'000;
constexpr int kAskMs = 5'000;
constexpr int64_t kPollEveryMs = 50;

// Asks until the answer is no kRetry, or the patience is over.
template <typename T>
Result<T> ask(const Clock& clock, const std::string& what, const std::function<Result<T>()>& question) {
  std::optional<Result<T>> answer;
  const Status waited = wait_until(clock, kPatienceMs, what, [&]() -> Result<bool> {
    answer.emplace(question());
    return answer->code() != Code::kRetry;
  });
  if (answer) return std::move(*answer);
  return waited;
}

// The offsets at one time, or no offsets without one.
Status set_offsets(kafka::AssignedConsumer& consumer, std::span<const kafka::TopicPartition> partitions,
                   const std::optional<int64_t>& time_ms, std::optional<Offset> LogEdges::*field,
                   std::vector<LogEdges>& edges) {
  if (!time_ms) return {};
  const std::vector<int64_t> times(partitions.size(), *time_ms);
  auto offsets = consumer.offsets_at(partitions, times, kAskMs);
  for (size_t i = 0; i < offsets.size(); ++i) {
    BLOOMRING_TRY(offsets[i].status().with_context(kafka::to_string(partitions[i])));
    edges[i].*field = *offsets[i];
  }
  return {};
}

}  // namespace

Result<std::vector<kafka::TopicPartition>> KafkaReplayLog::partitions(std::span<const std::string> topics) {
  BLOOMRING_TRY_ASSIGN(const auto admin, kafka::Admin::create(kafka_));
  using Found = std::vector<kafka::TopicDescription>;
  BLOOMRING_TRY_ASSIGN(const Found found,
                       ask<Found>(clock_, "the topics", [&] { return admin->describe(topics); }));
  std::vector<kafka::TopicPartition> partitions;
  for (const kafka::TopicDescription& topic : found) {
    if (!topic.exists) {
      return invalid("topic " + topic.name + " does not exist at " + kafka_.bootstrap +
                     ", or this user may not see it; name one with --topic");
    }
    for (int32_t p = 0; p < topic.partitions; ++p) partitions.push_back({topic.name, PartitionId(p)});
  }
  return partitions;
}

Result<std::vector<LogEdges>> KafkaReplayLog::ask_edges(kafka::AssignedConsumer& consumer,
                                                        std::span<const kafka::TopicPartition> partitions,
                                                        const ReplayBound& from, const ReplayBound& until) {
  BLOOMRING_TRY_ASSIGN(const auto facts, consumer.facts(partitions));
  std::vector<LogEdges> edges;
  for (const kafka::PartitionFacts& fact : facts) edges.push_back({fact.log_start, fact.log_end});
  BLOOMRING_TRY(set_offsets(consumer, partitions, from.time_ms, &LogEdges::from_time, edges));
  BLOOMRING_TRY(set_offsets(consumer, partitions, until.time_ms, &LogEdges::until_time, edges));
  return edges;
}

Result<std::vector<LogEdges>> KafkaReplayLog::edges(std::span<const kafka::TopicPartition> partitions,
                                                    const ReplayBound& from, const ReplayBound& until) {
  using Edges = std::vector<LogEdges>;
  if (partitions.empty()) return Edges();
  BLOOMRING_TRY_ASSIGN(const auto consumer, kafka::AssignedConsumer::create(kafka_, partitions.size(), clock_));
  return ask<Edges>(clock_, "the ends of the log", [&] { return ask_edges(*consumer, partitions, from, until); });
}

Result<std::vector<std::unique_ptr<Source>>> KafkaReplayLog::open(std::span<const Start> starts) {
  consumer_.reset();
  if (starts.empty()) return std::vector<std::unique_ptr<Source>>();
  BLOOMRING_TRY_ASSIGN(consumer_, kafka::AssignedConsumer::create(kafka_, starts.size(), clock_));
  std::vector<kafka::AssignedConsumer::Start> all;
  for (const Start& start : starts) all.push_back({start.at, start.offset});
  return consumer_->assign(all);
}

Status KafkaReplayLog::poll() {
  const int64_t now_ms = clock_.steady_ns() / 1'000'000;
  if (!consumer_ || now_ms < poll_at_ms_) return {};
  poll_at_ms_ = now_ms + kPollEveryMs;
  return consumer_->poll(0);
}

}  // namespace bloomring
