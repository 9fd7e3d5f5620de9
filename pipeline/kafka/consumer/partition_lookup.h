// Internal to pipeline/kafka: bounded requests of a client about partitions, on the caller's thread.
//
// Each partition has its own result: one without a leader, or whose leader does not answer, does not affect the
// others. A call of librdkafka for several partitions fails as a whole. So the lookup asks once for all partitions
// with a leader, and when that fails, once for the partitions of each leader.
//
// Errors, for each partition: kRetry when it has no leader or its leader does not answer in time, kInvalid when it
// does not exist or may not be read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/kafka/handle.h"
#include "pipeline/kafka/partition.h"

namespace bloomring::kafka {

enum class Ask { kLog, kLogAndCommits };

// All three answer in the order of `partitions`, within about five times `timeout_ms`.

// Four requests (leaders, commits, log starts, log ends) however many partitions, when all answer; a log's start and
// end take one request for each broker that leads some of them.
std::vector<Result<PartitionFacts>> query_facts(rd_kafka_t* client, const std::string& bootstrap,
                                                std::span<const TopicPartition> partitions, Ask ask, int timeout_ms);

// The first offset whose record is not older than the partition's time (Unix milliseconds), or nothing when there is
// none (the embedded broker knows no times and always says so).
std::vector<Result<std::optional<Offset>>> query_offsets_at(rd_kafka_t* client, const std::string& bootstrap,
                                                            std::span<const TopicPartition> partitions,
                                                            std::span<const int64_t> times_ms, int timeout_ms);

// The ends of the logs. When all brokers answer, it takes one request for each broker that leads some of them; only
// otherwise it asks for the leaders, too.
std::vector<Result<Offset>> query_log_ends(rd_kafka_t* client, const std::string& bootstrap,
                                           std::span<const TopicPartition> partitions, int timeout_ms);

}  // namespace bloomring::kafka
