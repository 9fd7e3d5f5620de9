// Internal to pipeline/kafka: what a client asks the brokers of partitions, bounded, on the caller's thread.
//
// Each partition by itself: one that no broker leads, or whose leader does not answer, takes no answer from the others.
// librdkafka asks for several partitions in one call, which fails as a whole then. So only those with a leader are
// asked for at once, and when that fails, those of each leader by themselves.
//
// Failure, of each: kRetry when its leader does not answer in time or it has none, kInvalid when it does not exist or
// may not be read.
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

// All three in the order of `partitions`, and within about five times `timeout_ms`.

// Four requests (leaders, commits, log starts, log ends) however many partitions, when all answer; a log's start and
// end take one request for each broker that leads some of them.
std::vector<Result<PartitionFacts>> query_facts(rd_kafka_t* client, const std::string& bootstrap,
                                                std::span<const TopicPartition> partitions, Ask ask, int timeout_ms);

// The first offset whose record is not older than the partition's time (Unix milliseconds), or nothing when there is
// none (the embedded broker knows no times and always says so).
std::vector<Result<std::optional<Offset>>> query_offsets_at(rd_kafka_t* client, const std::string& bootstrap,
                                                            std::span<const TopicPartition> partitions,
                                                            std::span<const int64_t> times_ms, int timeout_ms);

// Where the logs end. One request for each broker that leads some of them, when all answer; the leaders are asked for
// only when not.
std::vector<Result<Offset>> query_log_ends(rd_kafka_t* client, const std::string& bootstrap,
                                           std::span<const TopicPartition> partitions, int timeout_ms);

}  // namespace bloomring::kafka
