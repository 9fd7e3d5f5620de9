// The settings under `topics`: the names of the topics, by role, and their sizes. The keys of the names are those of
// the rows of topics (schemas/topics.h). pipeline/settings/keys/topic_keys.h declares them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schemas/topics.h"

namespace bloomring {

struct TopicSettings {
  TopicNames names;
  // Where the names of a role were set, as "site.yaml:3"; no entry where nothing sets them.
  std::map<TopicRole, std::string> places;
  uint32_t partitions = 50;        // Of the topics with TopicPartitions::kByShard; divides 5000.
  uint32_t plays_partitions = 10;  // Of the topics of plays, when we create them.
  uint16_t replication = 3;
  uint32_t retention_hours = 48;  // Of the topics of ours, times the factor of the row; longer than the ring.

  const std::string& name(TopicRole role) const { return names.one(role); }
  const std::vector<std::string>& plays() const { return names.all(TopicRole::kPlays); }
};

}  // namespace bloomring
