#include "pipeline/stages/serve/kafka_event_log.h"

#include "base/hash.h"
#include "schemas/event_block.h"

namespace bloomring {

namespace {

// A caller waits for each record, so no record lingers to fill a request. Records that arrive while one is in flight
// go together.
constexpr int kLingerMs = 0;

}  // namespace

Result<std::unique_ptr<KafkaEventLog>> KafkaEventLog::create(const KafkaEventLogConfig& config,
                                                             kafka::ClientSettings settings, const Clock& clock) {
  settings.send_memory_bytes = config.memory_bytes;
  settings.linger_ms = kLingerMs;
  BLOOMRING_TRY_ASSIGN(auto producer, kafka::Producer::create(settings));
  BLOOMRING_TRY(producer->verify_topic(config.topic, static_cast<int32_t>(config.partition_count)));
  return std::unique_ptr<KafkaEventLog>(new KafkaEventLog(config, clock, std::move(producer)));
}

void KafkaEventLog::append(const UserKey& user_key, std::span<const Event> events, Durable durable) {
  BLOOMRING_CHECK(!events.empty(), "an append without records");
  const UserRef user(user_key.bytes());
  const PartitionId partition = partition_of(user.shard(), config_.partition_count);
  EventBlockBuilder builder;
  for (const Event& event : events) builder.add(user, event);
  std::atomic<int64_t>& waiting = of_partition_[static_cast<size_t>(partition.value)];
  if (!appends_.take(waiting, 1)) {
    return durable(retry(std::to_string(appends_.all()) + " writes wait for the brokers already, " +
                         std::to_string(waiting.load()) + " of them for partition " + std::to_string(partition.value)));
  }
  const OutRecord record{config_.topic, partition, {}, builder.finish(partition, config_.partition_count), {}};
  producer_->write(record, [this, &waiting, durable = std::move(durable)](const auto& place) {
    appends_.give_back(waiting, 1);
    if (!place.ok()) return durable(place.status());
    const bool stamped = place->log_time_ms >= kEventTimeMinMs;  // The embedded broker stamps 1970.
    durable(Appended{place->offset, stamped ? place->log_time_ms : clock_.now_ms()});
  });
}

}  // namespace bloomring
