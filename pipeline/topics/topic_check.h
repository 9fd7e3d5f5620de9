// Compares the topics registry with the brokers' topics, for `bloomring topics` and `bloomring check`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/kafka/admin.h"
#include "pipeline/settings/settings.h"
#include "schemas/topics.h"

namespace bloomring {

// The registry for these settings.
std::vector<TopicSpec> topics_of(const Settings& settings);

struct TopicFinding {
  TopicSpec wanted;
  kafka::TopicDescription found;
  std::vector<std::string> errors;    // It would not work, or break a guarantee.
  std::vector<std::string> warnings;  // It works, but probably is not meant.
  std::string missing = {};           // A line (base/config/finding.h) if the topic does not exist.
};

// A line about a topic of plays that does not exist: the key, where it was set, and the similar names in `there`, the
// existing topics.
std::string missing_plays(const std::string& name, const std::string& place, const std::vector<std::string>& there);
// The same, with the brokers' topics that are not ours; with none if the brokers do not answer.
std::string missing_plays(kafka::Admin& admin, const std::string& name, const TopicSettings& topics);

// A line about a topic of ours that does not exist, with the similar names in `there`. The second overload asks the
// brokers for these names, and omits them when they do not answer.
std::string missing_internal(const std::string& name, const std::vector<std::string>& there);
std::string missing_internal(kafka::Admin& admin, const std::string& name);

// Asks the brokers. kRetry when none answers. `topics` come from `settings`.
Result<std::vector<TopicFinding>> check_topics(kafka::Admin& admin, const std::vector<TopicSpec>& topics,
                                               const Settings& settings);

// For a start: kInvalid when a topic of ours has settings with which it would not work or break a guarantee. Settings
// that cannot be read are not checked: the embedded broker has none, and a site may not allow reading them.
Status verify_topic_settings(kafka::Admin& admin, const Settings& settings);

// The number of partitions of all topics of plays together; nothing if no broker answers or a topic does not exist.
std::optional<uint64_t> count_plays_partitions(kafka::Admin& admin, const Settings& settings);

// Warnings about the retention of user-events, for the log at a start; one sentence if it cannot be read.
std::vector<std::string> retention_warnings(kafka::Admin& admin, const Settings& settings);

// Creates the missing topics, those of plays only `with_plays`, and waits until the brokers know them.
Status create_missing(kafka::Admin& admin, const std::vector<TopicFinding>& findings, bool with_plays);

}  // namespace bloomring
