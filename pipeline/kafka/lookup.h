// Internal to pipeline/kafka: bounded requests of a client to the brokers, on the caller's thread.
//
// Errors: kRetry when they do not answer in time, kInvalid when the object does not exist or access is not allowed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pipeline/kafka/handle.h"
#include "pipeline/kafka/partition.h"
#include "pipeline/kafka/topic_description.h"

namespace bloomring::kafka {

inline constexpr int kLookupTimeoutMs = 5000;

// In the order of `names`. Asks for all topics of the cluster: a request by name creates a topic on brokers with
// auto-creation. Also fills the client's metadata cache. Timeouts as for Admin::describe.
Result<std::vector<TopicDescription>> describe_topics(rd_kafka_t* client, const std::string& bootstrap,
                                                      std::span<const std::string> names, int timeout_ms,
                                                      int slow_timeout_ms = 0);

// The names of all topics of the cluster.
Result<std::vector<std::string>> list_topics(rd_kafka_t* client, const std::string& bootstrap, int timeout_ms);

// Asks for the leaders of all partitions. librdkafka 2.0.2 keeps asking the leader that it knows for as long as that
// one is away, and treats a partition without a leader as one that does not exist. Without an answer, the next lookup
// that fails asks again.
void learn_leaders(rd_kafka_t* client, int timeout_ms);

// The code for an error of a broker or the client: kRetry when waiting may help, kInvalid otherwise.
Status lookup_failure(rd_kafka_resp_err_t error, const std::string& bootstrap, int timeout_ms);

PartitionListHandle make_list(std::span<const TopicPartition> partitions, Offset offset);

}  // namespace bloomring::kafka
