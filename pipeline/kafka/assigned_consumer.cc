#include "pipeline/kafka/assigned_consumer.h"

#include <utility>

#include "pipeline/kafka/client.h"
#include "pipeline/kafka/consumer_errors.h"
#include "pipeline/kafka/lookup.h"
#include "pipeline/kafka/partition_source.h"
#include "pipeline/kafka/placement.h"

namespace bloomring::kafka {

class AssignedConsumer::Core {
 public:
  explicit Core(const Clock& clock) : clock_(clock) {}
  ~Core() { BLOOMRING_CHECK(host_.live_sources == 0, "the consumer is destroyed while a source is still there"); }

  Status open(ClientSettings settings, size_t partitions_max);
  Result<std::vector<PartitionFacts>> facts(std::span<const TopicPartition> partitions);
  Result<std::vector<std::optional<Offset>>> offsets_at(std::span<const TopicPartition> partitions, int64_t time_ms) {
    return query_offsets_at(client_.get(), bootstrap_, partitions, time_ms, kLookupTimeoutMs);
  }
  Result<std::vector<Offset>> log_ends(std::span<const TopicPartition> partitions, int timeout_ms) {
    return query_log_ends(client_.get(), bootstrap_, partitions, timeout_ms);
  }
  Result<std::vector<std::unique_ptr<Source>>> assign(std::span<const Start> starts);
  Status poll(int timeout_ms);

 private:
  const Clock& clock_;
  std::string bootstrap_;
  SourceHost host_;
  ClientHandle client_;
  std::optional<Placement> placement_;
  size_t partitions_max_ = 0;
  bool assigned_ = false;
};

// librdkafka's assign wants a group's name, which is never joined.
Status AssignedConsumer::Core::open(ClientSettings settings, size_t partitions_max) {
  if (settings.group.empty()) settings.group = settings.client_id + "-reader";
  settings.instance_id.clear();
  BLOOMRING_TRY_ASSIGN(ConfHandle conf, consumer_conf(settings, partitions_max));
  BLOOMRING_TRY_ASSIGN(client_, make_client(std::move(conf), RD_KAFKA_CONSUMER));
  rd_kafka_poll_set_consumer(client_.get());
  host_.client = client_.get();
  bootstrap_ = settings.bootstrap;
  placement_.emplace(client_.get(), bootstrap_);
  partitions_max_ = partitions_max;
  return {};
}

Result<std::vector<PartitionFacts>> AssignedConsumer::Core::facts(std::span<const TopicPartition> partitions) {
  return query_facts(client_.get(), bootstrap_, partitions, Ask::kLog, kLookupTimeoutMs);
}

Result<std::vector<std::unique_ptr<Source>>> AssignedConsumer::Core::assign(std::span<const Start> starts) {
  BLOOMRING_CHECK(!std::exchange(assigned_, true), "assign is called once");
  BLOOMRING_CHECK(starts.size() <= partitions_max_, "more partitions than were announced");
  std::vector<std::unique_ptr<Source>> sources;
  for (const auto& [at, offset] : starts) {
    const auto position = std::make_shared<Position>(at);
    placement_->add(position, offset);
    sources.push_back(std::make_unique<PartitionSource>(host_, position, Offset(-1)));
  }
  BLOOMRING_TRY(placement_->assign());
  return sources;
}

Status AssignedConsumer::Core::poll(int timeout_ms) {
  MessageHandle message(rd_kafka_consumer_poll(client_.get(), timeout_ms));
  for (; message; message.reset(rd_kafka_consumer_poll(client_.get(), 0))) {
    BLOOMRING_TRY(on_consumer_message(*message));
  }
  BLOOMRING_TRY(fatal_error(client_.get()));
  return placement_->serve(clock_.steady_ns());
}

Result<std::unique_ptr<AssignedConsumer>> AssignedConsumer::create(const ClientSettings& settings,
                                                                   size_t partitions_max, const Clock& clock) {
  auto core = std::make_unique<Core>(clock);
  BLOOMRING_TRY(core->open(settings, partitions_max));
  return std::unique_ptr<AssignedConsumer>(new AssignedConsumer(std::move(core)));
}

AssignedConsumer::AssignedConsumer(std::unique_ptr<Core> core) : core_(std::move(core)) {}
AssignedConsumer::~AssignedConsumer() = default;
Result<std::vector<PartitionFacts>> AssignedConsumer::facts(std::span<const TopicPartition> partitions) {
  return core_->facts(partitions);
}
Result<std::vector<std::optional<Offset>>> AssignedConsumer::offsets_at(std::span<const TopicPartition> partitions,
                                                                        int64_t time_ms) {
  return core_->offsets_at(partitions, time_ms);
}
Result<std::vector<Offset>> AssignedConsumer::log_ends(std::span<const TopicPartition> partitions, int timeout_ms) {
  return core_->log_ends(partitions, timeout_ms);
}
Result<std::vector<std::unique_ptr<Source>>> AssignedConsumer::assign(std::span<const Start> starts) {
  return core_->assign(starts);
}
Status AssignedConsumer::poll(int timeout_ms) { return core_->poll(timeout_ms); }

}  // namespace bloomring::kafka
