// The rights in Kafka that a stage needs, and no more: for ACLs where the brokers have an authorizer.
//
// They follow from the table of stages and the names in the configuration: a stage reads and writes the topics of its
// row, and finds all topics of ours at its start to check their partitions and settings. A stage with a consumer group
// reads its group; the window stage also asks how far merge has read. Creating topics (`bloomring topics --execute`) is
// a right of the operator and of no stage.
//
// Jobs (`bloomring replay`, `migrate`, `verify`, `dlq replay`) run as one more user: they read and put back plays,
// write events as ingest does, and keep their positions in a topic that the first of them makes.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/settings/settings.h"

namespace bloomring {

enum class KafkaResource : uint8_t { kTopic, kGroup, kCluster };
std::string_view resource_name(KafkaResource resource);  // "topic", "group", "cluster".

struct KafkaRight {
  KafkaResource resource = KafkaResource::kTopic;
  std::string name;
  std::vector<std::string> operations;  // By Kafka's names: "Read", "Write", "Describe", "DescribeConfigs".
  bool operator==(const KafkaRight&) const = default;
};

// A pattern of names of users, with the stage's name in the place of {stage}.
std::string user_of(std::string pattern, std::string_view stage);

// Topics in the order of the flow, then groups. `stage` is one of settings.stages.
std::vector<KafkaRight> rights_of(const StageRow& stage, const Settings& settings);

// Of the user that runs jobs, in the same order; its name is user_of(pattern, kJobs).
std::vector<KafkaRight> rights_of_jobs(const Settings& settings);
inline constexpr std::string_view kJobs = "jobs";

// The line for a shell that grants the right; `principal` is "User:NAME". kafka-acls.sh is Kafka's own.
std::string grant_command(const std::string& bootstrap, const std::string& principal, const KafkaRight& right);

}  // namespace bloomring
