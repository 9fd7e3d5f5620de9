#include "pipeline/kafka/consumer_errors.h"

#include <spdlog/spdlog.h>

#include <string>

namespace bloomring::kafka {

Status fatal_error(rd_kafka_t* client) {
  char why[512] = "";
  const auto error = rd_kafka_fatal_error(client, why, sizeof why);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  const std::string message = std::string(rd_kafka_err2str(error)) + ": " + why;
  return error == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID || error == RD_KAFKA_RESP_ERR__FENCED ? fenced(message)
                                                                                             : fatal(message);
}

Status on_consumer_message(const rd_kafka_message_t& message) {
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    return fatal("a record of " + std::string(rd_kafka_topic_name(message.rkt)) + "[" +
                 std::to_string(message.partition) + "] came outside its partition's queue");
  }
  const bool connection = message.err == RD_KAFKA_RESP_ERR__TRANSPORT || message.err == RD_KAFKA_RESP_ERR__RESOLVE ||
                          message.err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
  // librdkafka has logged those of connections itself.
  spdlog::log(connection ? spdlog::level::debug : spdlog::level::warn, "kafka: {}", rd_kafka_message_errstr(&message));
  return {};
}

}  // namespace bloomring::kafka
