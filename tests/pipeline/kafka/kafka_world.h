// A small world for the tests of pipeline/kafka: an embedded broker with topics, records with numbers in them, and
// waiting for conditions, with a bound and without sleeping.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "pipeline/kafka/consumer/group_consumer.h"
#include "pipeline/kafka/embedded_broker.h"
#include "pipeline/kafka/producer/producer.h"

namespace bloomring::kafka::testing {

// The value of a result that has to be there.
template <typename T>
T must(Result<T> result) {
  INFO(result.status().to_string());
  REQUIRE(result.ok());
  return std::move(result).value();
}
void must(const Status& status);

std::unique_ptr<EmbeddedBroker> broker_with(const std::map<std::string, int32_t>& partitions_by_topic);

// Calls `step` until it returns true, for at most `seconds`: far more than it takes, for a machine that is busy with
// other things. Returns what it said last.
bool eventually(const std::function<bool()>& step, int seconds = 60);

OutRecord record(const std::string& topic, int32_t partition, const std::string& value);

// Writes values "first" ... "first + count - 1" as text and waits until they are durable.
void write_numbers(Producer& producer, const std::string& topic, int32_t partition, int first, int count);

// The records that came out of a partition.
struct Read {
  std::vector<int64_t> offsets;
  std::vector<std::string> values;
};
// Takes everything that is at hand.
void read_some(Source& source, Read& read);

// 0, 1, ... count - 1, starting elsewhere when told.
std::vector<int64_t> numbers(int64_t count, int64_t first = 0);

// A group member that reads what it is given, in its own thread's polls. One ownership is one Read.
class Member final : public GroupListener {
 public:
  using StartRule = std::function<Offset(const PartitionFacts&)>;
  Member(const ClientSettings& settings, std::vector<std::string> topics, StartRule start = from_commit());
  ~Member() override { consumer.reset(); }

  // The group's commit, or the start of the log.
  static StartRule from_commit();

  Result<Offset> on_assign(const TopicPartition& at, const PartitionFacts& facts,
                           std::unique_ptr<Source> source) override;
  void on_revoke(std::span<const TopicPartition> partitions, bool lost) override;

  // One poll of the group, then everything at hand in each partition.
  Status step(int timeout_ms = 5);
  // Everything that was written to the partitions held now has been read.
  bool all_at_end() const;
  // Steps until `done`, bounded.
  bool run_until(const std::function<bool()>& done) {
    return eventually([&] { return must(step()), done(); });
  }

  struct Ownership {
    TopicPartition at;
    PartitionFacts facts;
    Offset start;
    Read read;
  };
  struct Held {
    std::unique_ptr<Source> source;
    size_t ownership;
  };

  const SystemClock clock;
  StartRule start;
  std::map<TopicPartition, Held> held;
  std::vector<Ownership> history;
  int lost = 0;
  bool commit_all_on_revoke = true;
  std::unique_ptr<GroupConsumer> consumer;
};

}  // namespace bloomring::kafka::testing
