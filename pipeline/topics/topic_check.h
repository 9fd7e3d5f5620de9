// Compares the topics registry with what the brokers have: for `bloomring topics` and `bloomring check`.
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
kafka::ClientSettings client_settings(const Settings& settings);

struct TopicFinding {
  TopicSpec wanted;
  kafka::TopicDescription found;
  std::vector<std::string> errors;    // It would not work, or lose what is promised.
  std::vector<std::string> warnings;  // It would work, but probably is not meant.
  std::string missing = {};           // A line (base/config/finding.h) where the topic does not exist.
};

// A line about a topic of plays that does not exist: the key, where it was set, and what in `there`, names of topics,
// is like it.
std::string missing_plays(const std::string& name, const std::string& place, const std::vector<std::string>& there);
// The same, with the topics of the brokers that are not ours; with none where the brokers do not tell.
std::string missing_plays(kafka::Admin& admin, const std::string& name, const TopicSettings& topics);

// A line about a topic of ours that does not exist, with the names in `there` that are like it. The second one asks the
// brokers for these names, and does without when they do not answer.
std::string missing_internal(const std::string& name, const std::vector<std::string>& there);
std::string missing_internal(kafka::Admin& admin, const std::string& name);

// Asks the brokers. kRetry when none answers. `settings` are those that the topics are of.
Result<std::vector<TopicFinding>> check_topics(kafka::Admin& admin, const std::vector<TopicSpec>& topics,
                                               const Settings& settings);

// kInvalid, for a start, when a topic of ours has settings with which it would not work or lose what is promised.
// Settings that cannot be read are not checked: the embedded broker has none, and a site may not allow it.
Status verify_topic_settings(kafka::Admin& admin, const Settings& settings);

// How many partitions the topics of plays have together; nothing where no broker says so, or one does not exist.
std::optional<uint64_t> count_plays_partitions(kafka::Admin& admin, const Settings& settings);

// What is wrong with how long user-events is kept, for the log at a start; a sentence where it cannot be told.
std::vector<std::string> retention_warnings(kafka::Admin& admin, const Settings& settings);

// Creates the topics that are missing, those of plays only where `with_plays`, and waits until the brokers know them.
Status create_missing(kafka::Admin& admin, const std::vector<TopicFinding>& findings, bool with_plays);

}  // namespace bloomring
