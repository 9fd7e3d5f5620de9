#include "pipeline/kafka_event_log.h"

#include "base/hash.h"
#include "schemas/event_block.h"

namespace bloomring {

namespace {

// A caller waits for each record, so none waits for company. Those that come while one is on its way go together.
constexpr int kLingerMs = 0;

}  // namespace

Result<std::unique_ptr<KafkaEventLog>> KafkaEventLog::create(const KafkaEventLogConfig& config,
                                                             kafka::ClientSettings settings) {
  settings.send_memory_bytes = config.memory_bytes;
  settings.linger_ms = kLingerMs;
  BLOOMRING_TRY_ASSIGN(auto producer, kafka::Producer::create(settings));
  BLOOMRING_TRY(producer->verify_topic(config.topic, static_cast<int32_t>(config.partition_count)));
  return std::unique_ptr<KafkaEventLog>(new KafkaEventLog(config, std::move(producer)));
}

void KafkaEventLog::append(const UserKey& user_key, std::span<const Event> events, Durable durable) {
  BLOOMRING_CHECK(!events.empty(), "an append of nothing");
  const uint64_t hash = user_hash(user_key.bytes());
  const PartitionId partition = partition_of(shard_of_hash(hash), config_.partition_count);
  EventBlockBuilder builder;
  for (const Event& event : events) builder.add(user_key.bytes(), hash, event);
  if (in_flight_.fetch_add(1) >= config_.in_flight_max) {
    in_flight_.fetch_sub(1);
    return durable(retry(std::to_string(config_.in_flight_max) + " writes wait for the brokers already"));
  }
  const OutRecord record{config_.topic, partition, {}, builder.finish(partition, config_.partition_count), {}};
  producer_->write(record, [this, durable = std::move(durable)](const Result<kafka::Producer::Place>& place) {
    in_flight_.fetch_sub(1);
    if (!place.ok()) return durable(place.status());
    durable(Appended{place->offset, place->log_time_ms});
  });
}

}  // namespace bloomring
