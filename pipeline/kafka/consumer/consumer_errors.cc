#include "pipeline/kafka/consumer/consumer_errors.h"

#include <string>

#include "base/log.h"

namespace bloomring::kafka {

namespace {

// Static membership uses the name of the process, and the broker keeps the newest member with that name.
std::string another_instance(rd_kafka_t* client) {
  char name[256] = "";
  size_t size = sizeof name;
  rd_kafka_conf_get(rd_kafka_conf(client), "group.instance.id", name, &size);
  return "another process has joined the group with the same name, instance: " + std::string(name) +
         "; give each process an `instance` of its own and start this one again. Kafka says: ";
}

}  // namespace

Status fatal_error(rd_kafka_t* client) {
  char why[512] = "";
  const auto error = rd_kafka_fatal_error(client, why, sizeof why);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  if (error == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID || error == RD_KAFKA_RESP_ERR__FENCED) {
    return fenced(another_instance(client) + why);
  }
  return fatal(std::string(rd_kafka_err2str(error)) + ": " + why);
}

Status on_consumer_message(const rd_kafka_message_t& message, InGroup in_group) {
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    return fatal("a record of " + std::string(rd_kafka_topic_name(message.rkt)) + "[" +
                 std::to_string(message.partition) + "] came outside its partition's queue");
  }
  const bool connection = message.err == RD_KAFKA_RESP_ERR__TRANSPORT || message.err == RD_KAFKA_RESP_ERR__RESOLVE ||
                          message.err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
  // librdkafka has logged connection errors itself. A reader that is in no group may be denied the one that it names.
  const bool no_group = message.err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED && in_group == InGroup::kNo;
  log_line(connection || no_group ? LogLevel::kDebug : LogLevel::kWarning,
           std::string("kafka: ") + rd_kafka_message_errstr(&message), {{"code", rd_kafka_err2name(message.err)}});
  return {};
}

}  // namespace bloomring::kafka
