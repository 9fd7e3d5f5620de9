#include "pipeline/topics/topic_check.h"

#include <algorithm>
#include <span>

#include "base/clock.h"
#include "base/config/nearest.h"
#include "base/log.h"
#include "base/words.h"
#include "pipeline/runtime/wait.h"
#include "pipeline/topics/retention_need.h"

namespace bloomring {

namespace {

constexpr int64_t kKnownBoundMs = 15'000;
constexpr size_t kLikeMax = 3;
constexpr size_t kPartMin = 4;  // Letters; a shorter name is a part of most names.

// A site chooses the settings of its topics; only whether we can read them is checked.
void check_fetch(kafka::Admin& admin, TopicFinding& finding) {
  const auto config = admin.config(finding.wanted.name);
  if (!config.ok()) return;
  const auto found = config->find("max.message.bytes");
  if (found == config->end() || std::stoll(found->second) < kFetchBytesMax) return;
  finding.warnings.push_back("max.message.bytes is " + found->second + ": a record of " +
                             std::to_string(kFetchBytesMax) + " bytes or more cannot be fetched, and stops its reader");
}

// The names that may have been meant: by similar letters, or because one name is a part of the other.
std::vector<std::string> like(const std::string& name, std::vector<std::string> there) {
  std::erase_if(there, [&](const std::string& other) {
    const bool part = std::min(name.size(), other.size()) >= kPartMin &&
                      (other.find(name) != std::string::npos || name.find(other) != std::string::npos);
    return other.starts_with("__") || (!part && nearest_name(name, {other}).empty());
  });
  std::ranges::stable_sort(there, {}, [&](const std::string& other) { return edit_distance(name, other); });
  there.resize(std::min(there.size(), kLikeMax));
  return there;
}

// The command that sets the topic's key to the wanted value.
std::string mend_with(const Settings& settings, const std::string& topic, const std::string& key,
                      const std::string& wanted) {
  return "; run `kafka-configs --bootstrap-server " + settings.kafka.bootstrap +
         " --alter --entity-type topics --entity-name " + topic + " --add-config " + key + "=" + wanted + "`";
}

void check_settings(kafka::Admin& admin, TopicFinding& finding, const Settings& settings) {
  if (finding.wanted.of_the_site()) return check_fetch(admin, finding);
  const auto config = admin.config(finding.wanted.name);
  if (!config.ok()) {
    finding.warnings.push_back("its settings cannot be read: " + config.status().message());
    return;
  }
  std::vector<std::string> retention;
  if (finding.wanted.row->feeds_ring) retention = check_retention(*config, settings.ring);
  for (std::string& warning : retention) finding.warnings.push_back(std::move(warning));
  for (const auto& [key, wanted] : finding.wanted.settings) {
    const auto found = config->find(key);
    if (found == config->end() || found->second == wanted) continue;
    const std::string text = key + " is " + found->second + ", wanted is " + wanted;
    if (key == "retention.ms") {
      const bool shorter = found->second != "-1" && std::stoll(found->second) < std::stoll(wanted);
      if (shorter && retention.empty()) finding.warnings.push_back(text + ": a longer outage than that loses events");
    } else if (key == "max.message.bytes") {
      if (std::stoll(found->second) < kMessageBytesMax)
        finding.errors.push_back(key + " is " + found->second + ", and records of ours need " +
                                 std::to_string(kMessageBytesMax) +
                                 mend_with(settings, finding.wanted.name, key, wanted));
    } else if (key == "min.insync.replicas") {
      if (std::stoi(found->second) < std::stoi(wanted))
        finding.warnings.push_back(text + ": the loss of a broker can lose acknowledged records");
    } else {
      finding.errors.push_back(text + mend_with(settings, finding.wanted.name, key, wanted));
    }
  }
}

void check_one(kafka::Admin& admin, TopicFinding& finding, const Settings& settings) {
  const TopicSpec& wanted = finding.wanted;
  if (!finding.found.exists) {
    finding.missing = missing_topic(admin, wanted, settings.topics);
    return;
  }
  if (wanted.partitions_fixed() && finding.found.partitions != wanted.partitions) {
    finding.errors.push_back("has " + std::to_string(finding.found.partitions) +
                             " partitions, topics.partitions says " + std::to_string(wanted.partitions) +
                             "; set topics.partitions to what the topic has, or name another topic");
  }
  if (finding.found.replication < wanted.replication) {
    finding.warnings.push_back("has " + std::to_string(finding.found.replication) +
                               " replicas, topics.replication says " + std::to_string(wanted.replication));
  }
  check_settings(admin, finding, settings);
}

}  // namespace

std::string missing_topic(const TopicSpec& topic, const std::string& place, const std::vector<std::string>& there) {
  const std::string names = joined(like(topic.name, there));
  if (!topic.of_the_site()) {
    return "topic " + topic.name + " does not exist, or this user may not see it; " +
           (names.empty() ? "" : "did you mean " + names + "? Otherwise ") + "`bloomring topics --execute` creates it";
  }
  return (place.empty() ? "" : place + ": ") + std::string(topic.row->key) + " is " + topic.name +
         ": no such topic exists, or this user may not see it; name one that exists" +
         (names.empty() ? "" : " (did you mean " + names + "?)") +
         ", or make it with `bloomring topics --execute --create-plays`";
}

std::string missing_topic(kafka::Admin& admin, const TopicSpec& topic, const TopicSettings& topics) {
  auto there = admin.topic_names();
  if (!there.ok()) there = std::vector<std::string>();
  for (const TopicRow& row : topics.names.rows()) {
    if (!topic.of_the_site() || row.owner == TopicOwner::kSite) continue;
    for (const std::string& ours : topics.names.all(row.role)) std::erase(*there, ours);
  }
  const auto place = topics.places.find(topic.row->role);
  return missing_topic(topic, place == topics.places.end() ? "" : place->second, *there);
}

std::vector<TopicSpec> topics_of(const Settings& settings) {
  const TopicSettings& topics = settings.topics;
  return topic_registry({.names = topics.names,
                         .partitions = static_cast<int32_t>(topics.partitions),
                         .plays_partitions = static_cast<int32_t>(topics.plays_partitions),
                         .replication = static_cast<int16_t>(topics.replication),
                         .retention_ms = int64_t{topics.retention_hours} * 3'600'000});
}

std::vector<TopicSpec> topics_at_start(const Settings& settings) {
  std::vector<TopicSpec> topics = topics_of(settings);
  std::erase_if(topics, [&](const TopicSpec& topic) {
    return topic.of_the_site() && !reads_topic(settings.stages, topic.row->role);
  });
  return topics;
}

Result<std::vector<TopicFinding>> check_topics(kafka::Admin& admin, const std::vector<TopicSpec>& topics,
                                               const Settings& settings) {
  std::vector<std::string> names;
  for (const TopicSpec& topic : topics) names.push_back(topic.name);
  BLOOMRING_TRY_ASSIGN(const std::vector<kafka::TopicDescription> found, admin.describe(names));
  std::vector<TopicFinding> findings;
  for (size_t i = 0; i < topics.size(); ++i) {
    findings.push_back({topics[i], found[i], {}, {}, {}});
    check_one(admin, findings.back(), settings);
  }
  return findings;
}

std::vector<std::string> retention_warnings(kafka::Admin& admin, const Settings& settings) {
  std::vector<std::string> warnings;
  for (const TopicSpec& topic : topics_of(settings)) {
    if (!topic.row->feeds_ring) continue;
    const auto config = admin.config(topic.name);
    if (!config.ok()) {
      warnings.push_back("how long " + topic.name + " is kept cannot be told: " + config.status().message());
      continue;
    }
    for (const std::string& warning : check_retention(*config, settings.ring))
      warnings.push_back("topic " + topic.name + ": " + warning);
  }
  return warnings;
}

Status verify_topic_settings(kafka::Admin& admin, const Settings& settings) {
  std::string errors;
  for (const TopicSpec& topic : topics_of(settings)) {
    if (topic.of_the_site()) continue;
    TopicFinding finding{topic, {}, {}, {}, {}};
    check_settings(admin, finding, settings);
    for (const std::string& error : finding.errors)
      errors += (errors.empty() ? "topic " : "\ntopic ") + topic.name + ": " + error;
    for (const std::string& warning : finding.warnings) log_debug(warning, {{"topic", topic.name}});
  }
  return errors.empty() ? Status() : invalid(errors);
}

std::optional<uint64_t> count_plays_partitions(kafka::Admin& admin, const Settings& settings) {
  const auto found = admin.describe(settings.topics.plays());
  if (!found.ok()) return std::nullopt;
  uint64_t partitions = 0;
  for (const kafka::TopicDescription& topic : *found) {
    if (!topic.exists) return std::nullopt;
    partitions += static_cast<uint64_t>(topic.partitions);
  }
  return partitions;
}

namespace {

// A controller makes topics before every broker knows them: a process that starts at once would not find them.
Status wait_until_known(kafka::Admin& admin, std::span<const kafka::NewTopic> made) {
  std::vector<std::string> names;
  for (const kafka::NewTopic& topic : made) names.push_back(topic.name);
  return wait_until(SystemClock(), kKnownBoundMs, "brokers to know the topics that were made", [&]() -> Result<bool> {
    const auto found = admin.describe(names);
    if (!found.ok()) return false;
    return std::ranges::all_of(*found, &kafka::TopicDescription::exists);
  });
}

}  // namespace

std::vector<kafka::NewTopic> topics_to_create(const std::vector<TopicFinding>& findings, bool with_plays) {
  std::vector<kafka::NewTopic> missing;
  for (const TopicFinding& finding : findings) {
    const TopicSpec& wanted = finding.wanted;
    if (finding.found.exists || (wanted.of_the_site() && !with_plays)) continue;
    missing.push_back({wanted.name, wanted.partitions, wanted.replication, wanted.settings});
  }
  return missing;
}

Status create_missing(kafka::Admin& admin, const std::vector<TopicFinding>& findings, bool with_plays) {
  const std::vector<kafka::NewTopic> missing = topics_to_create(findings, with_plays);
  if (missing.empty()) return {};
  BLOOMRING_TRY(admin.create_topics(missing));
  return wait_until_known(admin, missing);
}

}  // namespace bloomring
