#include "pipeline/kafka/consumer/partition_lookup.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "pipeline/kafka/client.h"
#include "pipeline/kafka/lookup.h"

namespace bloomring::kafka {
namespace {

// A query by time accepts the two ends of the log as times.
constexpr int64_t kLogStartTime = RD_KAFKA_OFFSET_BEGINNING;
constexpr int64_t kLogEndTime = RD_KAFKA_OFFSET_END;
constexpr int kTimeoutLeastMs = 100;

// A query about each of some partitions, and its answers.
class TimeQuestion {
 public:
  TimeQuestion(rd_kafka_t* client, const std::string& bootstrap, std::span<const TopicPartition> partitions,
               std::vector<int64_t> times)
      : client_(client),
        bootstrap_(bootstrap),
        partitions_(partitions),
        times_(std::move(times)),
        answers_(partitions.size(), retry("not asked")) {}

  // Asks for the partitions at these indexes in one call, and stores their answers.
  void ask_at_once(const std::vector<size_t>& which, int timeout_ms);
  // The same, and after a failure leader by leader.
  void ask_each(const std::vector<size_t>& which, int timeout_ms);
  std::vector<size_t> unanswered() const;
  std::vector<Result<Offset>>& answers() { return answers_; }

 private:
  std::map<int32_t, std::vector<size_t>> by_leader(const std::vector<size_t>& which, int timeout_ms);

  rd_kafka_t* const client_;
  const std::string& bootstrap_;
  const std::span<const TopicPartition> partitions_;
  const std::vector<int64_t> times_;
  std::vector<Result<Offset>> answers_;
};

std::vector<size_t> all_of(size_t count) {
  std::vector<size_t> indexes(count);
  std::iota(indexes.begin(), indexes.end(), 0);
  return indexes;
}

void TimeQuestion::ask_at_once(const std::vector<size_t>& which, int timeout_ms) {
  if (which.empty()) return;
  const PartitionListHandle list(rd_kafka_topic_partition_list_new(static_cast<int>(which.size())));
  for (const size_t i : which) {
    const TopicPartition& at = partitions_[i];
    rd_kafka_topic_partition_list_add(list.get(), at.topic.c_str(), at.partition.value)->offset = times_[i];
  }
  const auto error = rd_kafka_offsets_for_times(client_, list.get(), timeout_ms);
  for (size_t n = 0; n < which.size(); ++n) {
    const rd_kafka_topic_partition_t& element = list->elems[n];
    const auto failed = error != RD_KAFKA_RESP_ERR_NO_ERROR ? error : element.err;
    if (failed == RD_KAFKA_RESP_ERR_NO_ERROR) {
      answers_[which[n]] = Offset(element.offset);
    } else {
      answers_[which[n]] = lookup_failure(failed, bootstrap_, timeout_ms);
    }
  }
}

std::vector<size_t> TimeQuestion::unanswered() const {
  std::vector<size_t> indexes;
  for (size_t i = 0; i < answers_.size(); ++i) {
    if (!answers_[i].ok()) indexes.push_back(i);
  }
  return indexes;
}

// Asks for all topics: a request by name creates a topic on brokers with auto-creation. The client learns the leaders,
// too.
std::map<int32_t, std::vector<size_t>> TimeQuestion::by_leader(const std::vector<size_t>& which, int timeout_ms) {
  std::map<int32_t, std::vector<size_t>> indexes;
  const rd_kafka_metadata_t* answer = nullptr;
  const auto error = rd_kafka_metadata(client_, /*all_topics=*/1, nullptr, &answer, timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    for (const size_t i : which) answers_[i] = lookup_failure(error, bootstrap_, timeout_ms);
    return indexes;
  }
  const MetadataHandle all(answer);
  std::map<TopicPartition, int32_t> leaders;
  for (const auto& topic : std::span(all->topics, static_cast<size_t>(all->topic_cnt))) {
    for (const auto& partition : std::span(topic.partitions, static_cast<size_t>(topic.partition_cnt)))
      leaders[{topic.topic, PartitionId(partition.id)}] = partition.leader;
  }
  for (const size_t i : which) {
    const auto leader = leaders.find(partitions_[i]);
    if (leader == leaders.end()) {
      answers_[i] = invalid("the brokers know no such partition");
    } else if (leader->second < 0) {
      answers_[i] = retry("no broker leads it");
    } else {
      indexes[leader->second].push_back(i);
    }
  }
  return indexes;
}

void TimeQuestion::ask_each(const std::vector<size_t>& which, int timeout_ms) {
  if (which.empty()) return;
  const auto groups = by_leader(which, timeout_ms);
  std::vector<size_t> led;
  for (const auto& [leader, group] : groups) led.insert(led.end(), group.begin(), group.end());
  ask_at_once(led, timeout_ms);
  if (groups.size() < 2) return;
  const int group_timeout_ms = std::max(kTimeoutLeastMs, timeout_ms / static_cast<int>(groups.size()));
  for (const auto& [leader, group] : groups) {
    std::vector<size_t> open;
    std::ranges::copy_if(group, std::back_inserter(open), [this](size_t i) { return !answers_[i].ok(); });
    ask_at_once(open, group_timeout_ms);
  }
}

// The group's coordinator has the commits, independent of the partitions' leaders.
std::vector<Result<std::optional<Offset>>> query_commits(rd_kafka_t* client, const std::string& bootstrap,
                                                         std::span<const TopicPartition> partitions, int timeout_ms) {
  std::vector<Result<std::optional<Offset>>> commits(partitions.size(), std::optional<Offset>());
  PartitionListHandle list = make_list(partitions, Offset(RD_KAFKA_OFFSET_INVALID));
  const auto error = rd_kafka_committed(client, list.get(), timeout_ms);
  for (size_t i = 0; i < commits.size(); ++i) {
    const auto failed = error != RD_KAFKA_RESP_ERR_NO_ERROR ? error : list->elems[i].err;
    if (failed != RD_KAFKA_RESP_ERR_NO_ERROR) {
      commits[i] = lookup_failure(failed, bootstrap, timeout_ms);
    } else if (list->elems[i].offset >= 0) {
      commits[i] = std::optional(Offset(list->elems[i].offset));
    }
  }
  return commits;
}

Result<PartitionFacts> facts_of(const Result<std::optional<Offset>>& committed, const Result<Offset>& log_start,
                                const Result<Offset>& log_end) {
  BLOOMRING_TRY(committed.status());
  BLOOMRING_TRY(log_start.status());
  BLOOMRING_TRY(log_end.status());
  return PartitionFacts{*committed, *log_start, *log_end};
}

}  // namespace

std::vector<Result<PartitionFacts>> query_facts(rd_kafka_t* client, const std::string& bootstrap,
                                                std::span<const TopicPartition> partitions, Ask ask, int timeout_ms) {
  std::vector<Result<PartitionFacts>> facts;
  if (partitions.empty()) return facts;
  std::vector<Result<std::optional<Offset>>> commits(partitions.size(), std::optional<Offset>());
  if (ask == Ask::kLogAndCommits) commits = query_commits(client, bootstrap, partitions, timeout_ms);
  std::vector<size_t> open = all_of(partitions.size());
  std::erase_if(open, [&](size_t i) { return !commits[i].ok(); });
  TimeQuestion start(client, bootstrap, partitions, std::vector<int64_t>(partitions.size(), kLogStartTime));
  start.ask_each(open, timeout_ms);
  std::erase_if(open, [&](size_t i) { return !start.answers()[i].ok(); });
  TimeQuestion end(client, bootstrap, partitions, std::vector<int64_t>(partitions.size(), kLogEndTime));
  end.ask_at_once(open, timeout_ms);
  for (size_t i = 0; i < partitions.size(); ++i)
    facts.push_back(facts_of(commits[i], start.answers()[i], end.answers()[i]));
  return facts;
}

std::vector<Result<std::optional<Offset>>> query_offsets_at(rd_kafka_t* client, const std::string& bootstrap,
                                                            std::span<const TopicPartition> partitions,
                                                            std::span<const int64_t> times_ms, int timeout_ms) {
  TimeQuestion question(client, bootstrap, partitions, {times_ms.begin(), times_ms.end()});
  question.ask_each(all_of(partitions.size()), timeout_ms);
  std::vector<Result<std::optional<Offset>>> offsets;
  for (const Result<Offset>& answer : question.answers()) {
    if (!answer.ok()) {
      offsets.emplace_back(answer.status());
    } else {
      offsets.emplace_back(answer->value >= 0 ? std::optional(*answer) : std::nullopt);
    }
  }
  return offsets;
}

std::vector<Result<Offset>> query_log_ends(rd_kafka_t* client, const std::string& bootstrap,
                                           std::span<const TopicPartition> partitions, int timeout_ms) {
  TimeQuestion question(client, bootstrap, partitions, std::vector<int64_t>(partitions.size(), kLogEndTime));
  question.ask_at_once(all_of(partitions.size()), timeout_ms);
  question.ask_each(question.unanswered(), timeout_ms);
  return std::move(question.answers());
}

}  // namespace bloomring::kafka
