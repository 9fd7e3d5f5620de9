// The registry of topics: every topic that bloomring reads or writes, with the settings that its guarantees need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bloomring {

// The largest message that our producers send, one record or a batch of them, before compression. Our topics must take
// at least this (max.message.bytes).
inline constexpr int64_t kMessageBytesMax = 1'000'000;
// The max.message.bytes of topics that we create: Kafka's own default.
inline constexpr int64_t kTopicMessageBytes = 1'048'588;
// The largest record that bloomring makes of its input: a message holds it together with the overhead of a record.
inline constexpr size_t kRecordBytesMax = 950'000;

struct TopicNames {
  std::vector<std::string> plays = {"plays"};
  std::string user_events = "user-events";
  std::string user_batches = "user-batches";
  std::string dead = "plays-dead";
};

// The roles of topics in the flow. Names are configured, roles are not.
enum class TopicRole : uint8_t { kPlays, kUserEvents, kUserBatches, kDeadLetters };
std::string_view topic_role_name(TopicRole role);  // "plays", "user-events", "user-batches", "plays-dead".

struct TopicSpec {
  TopicRole role = TopicRole::kPlays;
  std::string name;
  std::string purpose;
  int32_t partitions = 1;
  int16_t replication = 3;
  // Broker-side settings by their Kafka names; checked where the broker reports them, set where we create the topic.
  std::map<std::string, std::string> settings;
  // The stored state depends on the partition count: another count is refused.
  bool partitions_fixed = true;
  // A topic of plays: the site's producers fill it, and bloomring creates it only on request.
  bool of_the_site() const { return role == TopicRole::kPlays; }
};

struct TopicPlan {
  TopicNames names;
  int32_t partitions = 50;        // P of the internal topics; divides 5000.
  int32_t plays_partitions = 10;  // Only used when we create the plays topics.
  int16_t replication = 3;
  int64_t retention_ms = 48LL * 3600 * 1000;  // Of user-events and user-batches; longer than a lap and an outage.
};

// The topics in the order of the flow.
std::vector<TopicSpec> topic_registry(const TopicPlan& plan);

}  // namespace bloomring
