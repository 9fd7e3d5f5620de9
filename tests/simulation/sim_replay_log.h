// The log of the simulation as a replay reads it.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/jobs/replay/replay_log.h"
#include "tests/simulation/sim_log.h"

namespace bloomring::simulation {

class SimReplayLog final : public ReplayLog {
 public:
  // `log` outlives it. `partitions`: of each topic.
  SimReplayLog(SimLog& log, std::map<std::string, int32_t> partitions)
      : log_(log), partitions_(std::move(partitions)) {}

  Result<std::vector<kafka::TopicPartition>> partitions(std::span<const std::string> topics) override {
    std::vector<kafka::TopicPartition> all;
    for (const std::string& topic : topics) {
      if (!partitions_.contains(topic)) return invalid("topic " + topic + " does not exist");
      for (int32_t p = 0; p < partitions_.at(topic); ++p) all.push_back({topic, PartitionId(p)});
    }
    return all;
  }
  Result<std::vector<LogEdges>> edges(std::span<const kafka::TopicPartition> partitions, const ReplayBound& from,
                                      const ReplayBound& until) override {
    if (away) return retry("no broker answers");
    std::vector<LogEdges> edges;
    for (const auto& [topic, partition] : partitions) {
      edges.push_back({log_.start(topic, partition), log_.end(topic, partition), at(topic, partition, from),
                       at(topic, partition, until)});
    }
    return edges;
  }
  Result<std::vector<std::unique_ptr<Source>>> open(std::span<const Start> starts) override {
    std::vector<std::unique_ptr<Source>> sources;
    for (const auto& [where, offset] : starts)
      sources.push_back(std::make_unique<SimSource>(log_, "replay", where.topic, where.partition, offset));
    return sources;
  }
  Status poll() override { return {}; }

  void add_partitions(const std::string& topic, int32_t more) { partitions_[topic] += more; }

  bool away = false;  // FAULT: no broker answers.

 private:
  std::optional<Offset> at(const std::string& topic, PartitionId partition, const ReplayBound& bound) {
    if (!bound.time_ms) return std::nullopt;
    const auto& records = log_.partition(topic, partition);
    const auto found = std::ranges::find_if(
        records, [&](const StoredRecord& record) { return !record.gap && record.log_time_ms >= *bound.time_ms; });
    return found == records.end() ? std::nullopt : std::optional(Offset(found - records.begin()));
  }

  SimLog& log_;
  std::map<std::string, int32_t> partitions_;
};

}  // namespace bloomring::simulation
