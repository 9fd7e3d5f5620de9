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
                                                      std::span<const std::string> names, int timeout_ms,
                                                      int slow_timeout_ms) {
  const rd_kafka_metadata_t* answer = nullptr;
  auto error = rd_kafka_metadata(client, /*all_topics=*/1, nullptr, &answer, timeout_ms);
  // For brokers that cannot be reached librdkafka returns __TRANSPORT.
  if (error == RD_KAFKA_RESP_ERR__TIMED_OUT && slow_timeout_ms > 0)
    error = rd_kafka_metadata(client, /*all_topics=*/1, nullptr, &answer, slow_timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return lookup_failure(error, bootstrap, timeout_ms);
  const MetadataHandle all(answer);
  std::vector<TopicDescription> descriptions;
  for (const auto& name : names) descriptions.push_back(describe_one(*all, name));
  return descriptions;
}

Result<std::vector<std::string>> list_topics(rd_kafka_t* client, const std::string& bootstrap, int timeout_ms) {
  const rd_kafka_metadata_t* answer = nullptr;
  const auto error = rd_kafka_metadata(client, /*all_topics=*/1, nullptr, &answer, timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return lookup_failure(error, bootstrap, timeout_ms);
  const MetadataHandle all(answer);
  std::vector<std::string> names;
  for (const auto& topic : std::span(all->topics, static_cast<size_t>(all->topic_cnt))) names.emplace_back(topic.topic);
  return names;
}

}  // namespace bloomring::kafka
