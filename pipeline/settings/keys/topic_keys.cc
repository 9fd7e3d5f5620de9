#include "pipeline/settings/keys/topic_keys.h"

#include <string>
#include <vector>

#include "base/hash.h"
#include "pipeline/settings/keys/value_rules.h"

namespace bloomring {

void declare_topics(Config& config, TopicSettings& topics) {
  config.section("topics", "The topics. `bloomring topics` shows and creates them.");
  for (const TopicRow& row : topics.names.rows()) {
    std::vector<std::string>& names = topics.names.all(row.role);
    const std::string key(row.key), content(row.content);
    if (row.many) {
      config.list(key, &names).check(must_be_topic).doc("Names of the topics of " + content + ".");
    } else {
      config.string(key, &names.front()).check(must_be_topic).doc("Name of the topic of " + content + ".");
    }
  }
  config.integer("topics.partitions", &topics.partitions)
      .range(1, kShardCount)
      .doc("Partitions of the internal topics. Must divide 5000, the number of shards. Cannot be changed in place.");
  config.integer("topics.plays_partitions", &topics.plays_partitions)
      .range(1, 10000)
      .doc("Partitions of each topic of plays that `bloomring topics` creates.");
  config.integer("topics.replication", &topics.replication)
      .range(1, 15)
      .doc("Replicas of each partition of a topic that `bloomring topics` creates.");
  config.integer("topics.retention_hours", &topics.retention_hours)
      .range(1, 24 * 366)
      .unit("hours")
      .doc(
          "Retention of user events and user batches. Dead letters are kept seven times as long. Must be longer "
          "than one lap of the ring: a process that has lost its disk reads back at most that far.");
}

void note_places(const Config& config, TopicSettings& topics) {
  for (const TopicRow& row : topics.names.rows()) {
    if (const std::string& place = config.origin(row.key); place != "default") topics.places[row.role] = place;
  }
}

}  // namespace bloomring
