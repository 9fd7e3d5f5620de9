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

// The registry for these settings, which outlive the specs as far as their rows of topics do.
std::vector<TopicSpec> topics_of(const Settings& settings);
// Of them, those that a start of settings.stages needs: all of ours, and those of the site that one of its stages
// reads.
std::vector<TopicSpec> topics_at_start(const Settings& settings);

struct TopicFinding {
  TopicSpec wanted;
  kafka::TopicDescription found;
  std::vector<std::string> errors;    // It would not work, or break a guarantee.
  std::vector<std::string> warnings;  // It works, but probably is not meant.
  std::string missing = {};           // A line (base/config/finding.h) if the topic does not exist.
};

// A line about a topic that does not exist, with the similar names in `there`, the existing topics. A line about one
// of the site begins with `place`, where its key was set.
std::string missing_topic(const TopicSpec& topic, const std::string& place, const std::vector<std::string>& there);
// The same, with the brokers' topics; with none if the brokers do not answer. Topics of ours are not suggested for one
// of the site.
std::string missing_topic(kafka::Admin& admin, const TopicSpec& topic, const TopicSettings& topics);

// Asks the brokers. kRetry when none answers. `topics` come from `settings`.
Result<std::vector<TopicFinding>> check_topics(kafka::Admin& admin, const std::vector<TopicSpec>& topics,
                                               const Settings& settings);

// For a start: kInvalid when a topic of ours has settings with which it would not work or break a guarantee. Settings
// that cannot be read are not checked: the embedded broker has none, and a site may not allow reading them.
Status verify_topic_settings(kafka::Admin& admin, const Settings& settings);

// The number of partitions of all topics of plays together; nothing if no broker answers or a topic does not exist.
std::optional<uint64_t> count_plays_partitions(kafka::Admin& admin, const Settings& settings);

// Warnings about the retention of the topics that feed the ring, for the log at a start; one sentence if it cannot be
// read.
std::vector<std::string> retention_warnings(kafka::Admin& admin, const Settings& settings);

// The missing topics, those of the site only `with_plays`.
std::vector<kafka::NewTopic> topics_to_create(const std::vector<TopicFinding>& findings, bool with_plays);
// Creates them, and waits until the brokers know them.
Status create_missing(kafka::Admin& admin, const std::vector<TopicFinding>& findings, bool with_plays);

}  // namespace bloomring
