#include "pipeline/kafka/embedded_broker.h"

#include <librdkafka/rdkafka.h>
// Included second: it uses declarations of the other.
#include <librdkafka/rdkafka_mock.h>

#include <utility>
#include <vector>

#include "pipeline/kafka/client.h"

namespace bloomring::kafka {
namespace {

using ClusterHandle = std::unique_ptr<rd_kafka_mock_cluster_t, Destroy<rd_kafka_mock_cluster_destroy>>;
constexpr int32_t kBrokerId = 1;
constexpr int16_t kListOffsets = 2;  // Kafka's number of the request.

}  // namespace

// The cluster runs on a separate client, which connects to nothing.
class EmbeddedBroker::Core {
 public:
  Core(ClientHandle client, ClusterHandle cluster) : client_(std::move(client)), cluster_(std::move(cluster)) {}
  rd_kafka_mock_cluster_t* cluster() const { return cluster_.get(); }

 private:
  ClientHandle client_;
  ClusterHandle cluster_;
};

Result<std::unique_ptr<EmbeddedBroker>> EmbeddedBroker::create(int brokers) {
  BLOOMRING_TRY_ASSIGN(ClientHandle client, make_client(bare_conf(), RD_KAFKA_PRODUCER));
  ClusterHandle cluster(rd_kafka_mock_cluster_new(client.get(), brokers));
  if (!cluster) return fatal("the embedded broker does not start");
  auto core = std::make_unique<Core>(std::move(client), std::move(cluster));
  return std::unique_ptr<EmbeddedBroker>(new EmbeddedBroker(std::move(core)));
}

EmbeddedBroker::EmbeddedBroker(std::unique_ptr<Core> core) : core_(std::move(core)) {}
EmbeddedBroker::~EmbeddedBroker() = default;

Status EmbeddedBroker::create_topic(const std::string& topic, int32_t partitions) {
  const auto error = rd_kafka_mock_topic_create(core_->cluster(), topic.c_str(), partitions, 1);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  return invalid("topic " + topic + ": " + rd_kafka_err2str(error));
}

std::string EmbeddedBroker::bootstrap() const { return rd_kafka_mock_cluster_bootstraps(core_->cluster()); }

ClientSettings EmbeddedBroker::settings() const {
  return {.bootstrap = bootstrap(),
          .properties = {{"session.timeout.ms", "3000"},
                         {"heartbeat.interval.ms", "500"},
                         {"fetch.wait.max.ms", "20"},
                         {"reconnect.backoff.max.ms", "500"}}};
}

void EmbeddedBroker::break_topic(const std::string& topic) {
  rd_kafka_mock_topic_set_error(core_->cluster(), topic.c_str(), RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
}

void EmbeddedBroker::set_down(bool down) {
  if (down) {
    rd_kafka_mock_broker_set_down(core_->cluster(), kBrokerId);
  } else {
    rd_kafka_mock_broker_set_up(core_->cluster(), kBrokerId);
  }
}

void EmbeddedBroker::move_leader(const std::string& topic, int32_t partition, int32_t broker) {
  rd_kafka_mock_partition_set_leader(core_->cluster(), topic.c_str(), partition, broker);
}

void EmbeddedBroker::refuse_log_lookups(int requests) {
  const std::vector<rd_kafka_resp_err_t> errors(static_cast<size_t>(requests), RD_KAFKA_RESP_ERR_UNKNOWN);
  rd_kafka_mock_push_request_errors_array(core_->cluster(), kListOffsets, errors.size(), errors.data());
}

}  // namespace bloomring::kafka
