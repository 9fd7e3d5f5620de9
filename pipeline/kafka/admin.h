// Looks topics up and makes them: for `bloomring topics` and `bloomring check`, and for start-up checks. Looks at
// groups and removes records: for `bloomring store new-log`.
//
// Threading: one thread. Failure: every call is bounded by its timeout; kRetry says that no broker answered and where
// it looked, kInvalid that the broker refused and why.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/kafka/partition.h"
#include "pipeline/kafka/settings.h"

namespace bloomring::kafka {

struct TopicDescription {
  std::string name;
  bool exists = false;
  int32_t partitions = 0;
  int32_t replication = 0;  // The smallest of its partitions.
};

struct NewTopic {
  std::string name;
  int32_t partitions = 1;
  int32_t replication = 1;
  std::map<std::string, std::string> config{};  // retention.ms, cleanup.policy, ...
};

class Admin {
 public:
  static Result<std::unique_ptr<Admin>> create(const ClientSettings& settings);
  ~Admin();

  // In the order of `names`. Never creates a topic, whatever the broker's auto.create.topics.enable says. A broker that
  // was reached in `timeout_ms` and has not answered yet is asked once more, and has `slow_timeout_ms` for it.
  Result<std::vector<TopicDescription>> describe(std::span<const std::string> names, int timeout_ms = 5000,
                                                 int slow_timeout_ms = 0);

  // Of every topic that this user may see, Kafka's own ones too.
  Result<std::vector<std::string>> topic_names(int timeout_ms = 5000);

  // Every setting of the topic that is in force, defaults included. The embedded broker has none: kRetry.
  Result<std::map<std::string, std::string>> config(const std::string& topic, int timeout_ms = 5000);

  // Makes the topics. One that exists already is kInvalid; the others are made all the same. The embedded broker
  // cannot (kRetry): see EmbeddedBroker::create_topic.
  Status create_topics(std::span<const NewTopic> topics, int timeout_ms = 15000);

  // How many members the group has; a member that was stopped counts until its session ends. 0 for a group that nobody
  // has heard of. The embedded broker cannot tell (kRetry).
  Result<size_t> group_members(const std::string& group, int timeout_ms = 5000);

  // Removes the records below these offsets for good; which were removed where this fails is not known. At least one
  // partition, none twice.
  struct Below {
    TopicPartition partition;
    Offset offset;  // In [log start, log end].
  };
  Status delete_records(std::span<const Below> records, int timeout_ms = 30000);

 private:
  class Core;
  explicit Admin(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace bloomring::kafka
