#include "pipeline/kafka/producer/producer.h"

#include <unordered_map>

#include "pipeline/kafka/producer/producer_client.h"

namespace bloomring::kafka {
namespace {

class ProducerSink final : public Sink {
 public:
  explicit ProducerSink(ProducerClient& client) : client_(client), acks_(std::make_shared<AckList>()) {
    ++client_.live_sinks;
  }
  ~ProducerSink() override { --client_.live_sinks; }

  Status send(OutRecord& record, uint64_t ticket) override {
    BLOOMRING_TRY_ASSIGN(const auto* topic, find_topic(record.topic));
    return client_.send(*topic, record, acks_, ticket);
  }
  Status poll_acks(std::vector<uint64_t>& tickets) override { return acks_->take(tickets, broker_time_ms_); }
  std::optional<int64_t> broker_time_ms() const override { return broker_time_ms_; }

 private:
  Result<const ProducerClient::Topic*> find_topic(const std::string& name) {
    if (const auto known = topics_.find(name); known != topics_.end()) return known->second;
    BLOOMRING_TRY_ASSIGN(const auto* topic, client_.topic(name));
    topics_.emplace(name, topic);
    return topic;
  }

  ProducerClient& client_;
  int64_t broker_time_ms_ = 0;
  const std::shared_ptr<AckList> acks_;                                   // Shared with the records in flight.
  std::unordered_map<std::string, const ProducerClient::Topic*> topics_;  // Spares the client's lock.
};

}  // namespace

Result<std::unique_ptr<Producer>> Producer::create(const ClientSettings& settings) {
  BLOOMRING_TRY_ASSIGN(auto client, ProducerClient::create(settings));
  return std::unique_ptr<Producer>(new Producer(std::move(client)));
}

Producer::Producer(std::unique_ptr<ProducerClient> client) : client_(std::move(client)) {}
Producer::~Producer() = default;

Status Producer::verify_topic(const std::string& topic, int32_t partitions_expected) {
  const auto found = client_->topic(topic);
  if (found.code() == Code::kFatal) return invalid(found.status().message() + ": see `bloomring topics`");
  BLOOMRING_TRY(found.status());
  const int32_t partitions = (*found)->partitions;
  if (partitions_expected == 0 || partitions == partitions_expected) return {};
  return invalid("topic " + topic + " has " + std::to_string(partitions) + " partitions, the configuration says " +
                 std::to_string(partitions_expected) +
                 ": set the configured number to the topic's, or move to a new topic with the right number");
}

Result<int32_t> Producer::partitions_of(const std::string& topic) {
  BLOOMRING_TRY_ASSIGN(const auto* found, client_->topic(topic));
  return found->partitions;
}

void Producer::write(const OutRecord& record, Written written) {
  const auto topic = client_->topic(record.topic);
  if (!topic.ok()) return written(topic.status());
  client_->write(**topic, record, std::move(written));
}

std::unique_ptr<Sink> Producer::make_sink() { return std::make_unique<ProducerSink>(*client_); }
Status Producer::flush(int timeout_ms) { return client_->flush(timeout_ms); }
ProducerStats Producer::stats() const { return client_->stats(); }

}  // namespace bloomring::kafka
