#include "kafka_world.h"

#include <algorithm>
#include <numeric>
#include <thread>
#include <utility>

#ifdef __SANITIZE_THREAD__
// librdkafka is not instrumented: the atomic counters by which it knows who uses an object last are not seen.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:librdkafka.so\n"; }
#endif

namespace bloomring::kafka::testing {

void must(const Status& status) {
  INFO(status.to_string());
  REQUIRE(status.ok());
}

std::unique_ptr<EmbeddedBroker> broker_with(const std::map<std::string, int32_t>& partitions_by_topic) {
  auto broker = must(EmbeddedBroker::create());
  for (const auto& [topic, partitions] : partitions_by_topic) must(broker->create_topic(topic, partitions));
  return broker;
}

bool eventually(const std::function<bool()>& step, int seconds) {
  const SystemClock clock;
  const int64_t until_ns = clock.steady_ns() + int64_t{seconds} * 1'000'000'000;
  while (!step()) {
    if (clock.steady_ns() > until_ns) return false;
    std::this_thread::yield();
  }
  return true;
}

OutRecord record(const std::string& topic, int32_t partition, const std::string& value) {
  return {.topic = topic, .partition = PartitionId(partition), .key = "key", .value = value, .headers = {}};
}

void write_numbers(Producer& producer, const std::string& topic, int32_t partition, int first, int count) {
  const auto sink = producer.make_sink();
  std::vector<uint64_t> tickets;
  for (int i = first; i < first + count; ++i) {
    OutRecord out = record(topic, partition, std::to_string(i));
    must(sink->send(out, static_cast<uint64_t>(i)));
  }
  must(producer.flush(60'000));
  must(sink->poll_acks(tickets));
  REQUIRE(tickets.size() == static_cast<size_t>(count));
}

void read_some(Source& source, Read& read) {
  while (const auto next = must(source.poll())) {
    read.offsets.push_back(next->offset.value);
    read.values.emplace_back(next->value);
  }
}

std::vector<int64_t> numbers(int64_t count, int64_t first) {
  std::vector<int64_t> all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), first);
  return all;
}

Member::StartRule Member::from_commit() {
  return [](const PartitionFacts& facts) { return facts.committed.value_or(kLogStart); };
}

Member::Member(const ClientSettings& settings, std::vector<std::string> topics, StartRule start_rule)
    : start(std::move(start_rule)), consumer(must(GroupConsumer::create(settings, std::move(topics), *this, clock))) {}

Result<Offset> Member::on_assign(const TopicPartition& at, const PartitionFacts& facts,
                                 std::unique_ptr<Source> source) {
  const Offset from = start(facts);
  held[at] = Held{std::move(source), history.size()};
  history.push_back({at, facts, from, {}});
  return from;
}

void Member::on_revoke(std::span<const TopicPartition> partitions, bool was_lost) {
  lost += was_lost ? 1 : 0;
  for (const auto& at : partitions) {
    const auto& offsets = history[held.at(at).ownership].read.offsets;
    if (commit_all_on_revoke && !offsets.empty()) held.at(at).source->commit(Offset(offsets.back() + 1));
    held.erase(at);
  }
}

bool Member::all_at_end() const {
  return std::all_of(held.begin(), held.end(), [](const auto& part) { return part.second.source->at_end(); });
}

Status Member::step(int timeout_ms) {
  BLOOMRING_TRY(consumer->poll(timeout_ms));
  for (auto& [at, part] : held) read_some(*part.source, history[part.ownership].read);
  return {};
}

}  // namespace bloomring::kafka::testing
