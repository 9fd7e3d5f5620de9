// The topics as data: one row for each topic that bloomring reads or writes. Everything that depends on which topics
// there are reads the rows: the keys under `topics`, the check of the brokers, the topics that are created, the topics
// that a start waits for, the rights in Kafka, the report of an erasure, the pages. A new topic is one row.
//
//   TopicRows (what a topic is)  +  TopicNames (what an installation calls it)  +  TopicPlan (its sizes)
//     -> topic_registry: a TopicSpec for each topic, as the brokers must have it
//
// The rows of the stages (pipeline/settings/topology.h) name the topics that each stage reads and writes, by role.
// Threading: values and pure functions.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
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
// librdkafka's receive.message.max.bytes: a larger batch, or one that unpacks to more, is never fetched. A topic whose
// max.message.bytes is as large or larger can stop its reader.
inline constexpr int64_t kFetchBytesMax = 100'000'000;

// The role of a topic in the flow. Names are configured, roles are not. Two roles with the same word are the same.
struct TopicRole {
  std::string_view word;  // In pages and in `bloomring topology`. Refers to text that lives as long as the program.
  auto operator<=>(const TopicRole&) const = default;

  // The roles that code names.
  static const TopicRole kPlays, kUserEvents, kUserBatches, kDeadLetters;
};
inline constexpr TopicRole TopicRole::kPlays{"plays"};
inline constexpr TopicRole TopicRole::kUserEvents{"user-events"};
inline constexpr TopicRole TopicRole::kUserBatches{"user-batches"};
inline constexpr TopicRole TopicRole::kDeadLetters{"plays-dead"};

// Whose producers fill the topic.
enum class TopicOwner : uint8_t {
  kUs,    // Stages alone write it. `bloomring topics --execute` creates it with our settings, and a start checks them.
  kSite,  // The site's producers write it and the site chooses its settings. Created only on request (--create-plays).
};

// The source of the number of partitions.
enum class TopicPartitions : uint8_t {
  kByShard,  // topics.partitions. The stored state depends on the number: another one is refused.
  kByPlays,  // topics.plays_partitions where we create the topic, else the number that the site chose.
  kOne,      // One where we create the topic; more are allowed.
};

// One topic, or several of the same kind. Texts live as long as the program.
struct TopicRow {
  TopicRole role;
  std::string_view key;           // Of the setting that names it, as "topics.user_events".
  std::string_view default_name;  // Of that setting.
  std::string_view content;       // For people: lower case, no full stop.
  std::string_view of_a_user;     // Its data about one user, for the report of an erasure.
  TopicOwner owner = TopicOwner::kUs;
  bool many = false;  // The setting is a list of names, each of a topic of this kind.
  TopicPartitions partitions = TopicPartitions::kByShard;
  // Retention in multiples of topics.retention_hours. Of topics of ours: the site chooses that of its own.
  int retention_factor = 1;
  // The ring reads it again after the loss of a disk: a start warns when it is kept for less than the ring needs.
  bool feeds_ring = false;
};
using TopicRows = std::span<const TopicRow>;

// The table of the product, in the order of the flow. Lives as long as the program.
TopicRows topic_rows();
// The row with this role. Fails a check for a role without a row.
const TopicRow& topic_row(TopicRows rows, TopicRole role);
// The default name of a topic of the product.
std::string default_topic_name(TopicRole role);

// The names of the topics of an installation, by role: those of the rows until they are set.
class TopicNames {
 public:
  TopicNames() : TopicNames(topic_rows()) {}
  explicit TopicNames(TopicRows rows);  // That outlive the names.

  TopicRows rows() const { return rows_; }
  // The name of a topic whose row has one. Fails a check for a role without a row.
  const std::string& one(TopicRole role) const;
  // All names: one, or those of the list where the row has `many`.
  const std::vector<std::string>& all(TopicRole role) const;
  // The same, to be set. It keeps its place as long as this object, also when the object is moved.
  std::vector<std::string>& all(TopicRole role);

 private:
  TopicRows rows_;
  std::map<TopicRole, std::vector<std::string>> names_;
};

// A topic as the brokers must have it.
struct TopicSpec {
  const TopicRow* row = nullptr;  // Never null in a registry.
  std::string name;
  int32_t partitions = 1;
  int16_t replication = 3;
  // Broker-side settings by their Kafka names; checked where the broker reports them, set where we create the topic.
  std::map<std::string, std::string> settings = {};

  bool of_the_site() const { return row->owner == TopicOwner::kSite; }
  // Another number of partitions is refused.
  bool partitions_fixed() const { return row->partitions == TopicPartitions::kByShard; }
};

struct TopicPlan {
  TopicNames names;
  int32_t partitions = 50;        // P of the internal topics; divides 5000.
  int32_t plays_partitions = 10;  // Only used when we create the plays topics.
  int16_t replication = 3;
  int64_t retention_ms = 48LL * 3600 * 1000;  // Times the factor of the row; longer than a lap and an outage.
};

// The topics in the order of the flow. The specs refer to the rows of `plan`.
std::vector<TopicSpec> topic_registry(const TopicPlan& plan);

}  // namespace bloomring
