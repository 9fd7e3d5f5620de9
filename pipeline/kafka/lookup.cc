#include "pipeline/kafka/lookup.h"

#include <algorithm>

#include "pipeline/kafka/client.h"

namespace bloomring::kafka {
namespace {

bool may_pass(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR_INVALID_GROUP_ID:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION: return false;
    default: return true;
  }
}

TopicDescription describe_one(const rd_kafka_metadata_t& all, const std::string& name) {
  TopicDescription description{.name = name};
  const std::span topics(all.topics, static_cast<size_t>(all.topic_cnt));
  const auto topic = std::find_if(topics.begin(), topics.end(), [&](const auto& t) { return t.topic == name; });
  if (topic == topics.end() || topic->err != RD_KAFKA_RESP_ERR_NO_ERROR) return description;
  description.exists = true;
  description.partitions = topic->partition_cnt;
  for (int i = 0; i < topic->partition_cnt; ++i) {
    const int replicas = topic->partitions[i].replica_cnt;
    description.replication = i == 0 ? replicas : std::min(description.replication, replicas);
  }
  return description;
}

Status first_failure(const rd_kafka_topic_partition_list_t& list, const std::string& bootstrap, int timeout_ms) {
  for (const auto& element : std::span(list.elems, static_cast<size_t>(list.cnt))) {
    if (element.err == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    return lookup_failure(element.err, bootstrap, timeout_ms)
        .with_context(to_string(TopicPartition{element.topic, PartitionId(element.partition)}));
  }
  return {};
}

// A query by time understands the two ends of the log as times, and asks for all partitions of a broker at once.
Result<PartitionListHandle> query_time(rd_kafka_t* client, const std::string& bootstrap,
                                       std::span<const TopicPartition> partitions, Offset time, int timeout_ms) {
  PartitionListHandle list = make_list(partitions, time);
  const auto error = rd_kafka_offsets_for_times(client, list.get(), timeout_ms);
  const Status failed = error == RD_KAFKA_RESP_ERR_NO_ERROR ? first_failure(*list, bootstrap, timeout_ms)
                                                            : lookup_failure(error, bootstrap, timeout_ms);
  if (failed.ok()) return list;
  learn_leaders(client, timeout_ms);
  return failed;
}

Status query_commits(rd_kafka_t* client, const std::string& bootstrap, std::span<const TopicPartition> partitions,
                     std::vector<PartitionFacts>& facts, int timeout_ms) {
  PartitionListHandle list = make_list(partitions, Offset(RD_KAFKA_OFFSET_INVALID));
  const auto error = rd_kafka_committed(client, list.get(), timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return lookup_failure(error, bootstrap, timeout_ms);
  BLOOMRING_TRY(first_failure(*list, bootstrap, timeout_ms));
  for (size_t i = 0; i < facts.size(); ++i) {
    if (list->elems[i].offset >= 0) facts[i].committed = Offset(list->elems[i].offset);
  }
  return {};
}

}  // namespace

void learn_leaders(rd_kafka_t* client, int timeout_ms) {
  const rd_kafka_metadata_t* answer = nullptr;
  if (rd_kafka_metadata(client, /*all_topics=*/1, nullptr, &answer, timeout_ms) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  const MetadataHandle all(answer);
}

Status lookup_failure(rd_kafka_resp_err_t error, const std::string& bootstrap, int timeout_ms) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__RESOLVE: return retry(no_answer(bootstrap, timeout_ms));
    default: return may_pass(error) ? retry(rd_kafka_err2str(error)) : invalid(rd_kafka_err2str(error));
  }
}

PartitionListHandle make_list(std::span<const TopicPartition> partitions, Offset offset) {
  PartitionListHandle list(rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
  for (const auto& at : partitions) {
    rd_kafka_topic_partition_list_add(list.get(), at.topic.c_str(), at.partition.value)->offset = offset.value;
  }
  return list;
}

Result<std::vector<TopicDescription>> describe_topics(rd_kafka_t* client, const std::string& bootstrap,
                                                      std::span<const std::string> names, int timeout_ms) {
  const rd_kafka_metadata_t* answer = nullptr;
  const auto error = rd_kafka_metadata(client, /*all_topics=*/1, nullptr, &answer, timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return lookup_failure(error, bootstrap, timeout_ms);
  const MetadataHandle all(answer);
  std::vector<TopicDescription> descriptions;
  for (const auto& name : names) descriptions.push_back(describe_one(*all, name));
  return descriptions;
}

Result<std::vector<PartitionFacts>> query_facts(rd_kafka_t* client, const std::string& bootstrap,
                                                std::span<const TopicPartition> partitions, Ask ask, int timeout_ms) {
  std::vector<PartitionFacts> facts(partitions.size());
  if (partitions.empty()) return facts;
  if (ask == Ask::kLogAndCommits) BLOOMRING_TRY(query_commits(client, bootstrap, partitions, facts, timeout_ms));
  const Offset log_start(RD_KAFKA_OFFSET_BEGINNING), log_end(RD_KAFKA_OFFSET_END);
  BLOOMRING_TRY_ASSIGN(const auto starts, query_time(client, bootstrap, partitions, log_start, timeout_ms));
  BLOOMRING_TRY_ASSIGN(const auto ends, query_time(client, bootstrap, partitions, log_end, timeout_ms));
  for (size_t i = 0; i < facts.size(); ++i) {
    facts[i].log_start = Offset(starts->elems[i].offset);
    facts[i].log_end = Offset(ends->elems[i].offset);
  }
  return facts;
}

Result<std::vector<std::optional<Offset>>> query_offsets_at(rd_kafka_t* client, const std::string& bootstrap,
                                                            std::span<const TopicPartition> partitions, int64_t time_ms,
                                                            int timeout_ms) {
  std::vector<std::optional<Offset>> offsets(partitions.size());
  if (partitions.empty()) return offsets;
  BLOOMRING_TRY_ASSIGN(const auto found, query_time(client, bootstrap, partitions, Offset(time_ms), timeout_ms));
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (found->elems[i].offset >= 0) offsets[i] = Offset(found->elems[i].offset);
  }
  return offsets;
}

Result<std::vector<Offset>> query_log_ends(rd_kafka_t* client, const std::string& bootstrap,
                                           std::span<const TopicPartition> partitions, int timeout_ms) {
  BLOOMRING_TRY_ASSIGN(const auto list,
                       query_time(client, bootstrap, partitions, Offset(RD_KAFKA_OFFSET_END), timeout_ms));
  std::vector<Offset> ends;
  for (size_t i = 0; i < partitions.size(); ++i) ends.emplace_back(list->elems[i].offset);
  return ends;
}

}  // namespace bloomring::kafka
