// Looks up and creates topics, for `bloomring topics`, `bloomring check` and start-up checks. Looks up groups and
// deletes records, for `bloomring store new-log`.
//
// Threading: one thread.
// Errors: every call is bounded by its timeout. kRetry when no broker answered, with the address; kInvalid when the
// broker refused, with the reason.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/kafka/acl.h"
#include "pipeline/kafka/partition.h"
#include "pipeline/kafka/settings.h"
#include "pipeline/kafka/topic_description.h"

namespace bloomring::kafka {

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

  // In the order of `names`. Never creates a topic, whatever the broker's auto.create.topics.enable says. If a broker
  // was reached but did not answer within `timeout_ms`, asks again and waits `slow_timeout_ms`.
  Result<std::vector<TopicDescription>> describe(std::span<const std::string> names, int timeout_ms = 5000,
                                                 int slow_timeout_ms = 0);

  // The names of all topics that this user may see, Kafka's own ones too.
  Result<std::vector<std::string>> topic_names(int timeout_ms = 5000);

  // The settings in force of the topic, defaults included. The embedded broker has none: kRetry.
  Result<std::map<std::string, std::string>> config(const std::string& topic, int timeout_ms = 5000);

  // Creates the topics. kInvalid if one exists already; the others are created anyway. The embedded broker cannot
  // (kRetry): see EmbeddedBroker::create_topic.
  Status create_topics(std::span<const NewTopic> topics, int timeout_ms = 15000);

  // The number of members of the group; a stopped member counts until its session times out. 0 for an unknown group.
  // The embedded broker cannot tell (kRetry).
  Result<size_t> group_members(const std::string& group, int timeout_ms = 5000);

  // The ACLs of all users.
  Result<AclList> acls(int timeout_ms = 5000);

  // Deletes the records below these offsets. After a failure it is unknown which were deleted. At least one partition,
  // none twice.
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
