// Internal to pipeline/kafka: handles the messages in a consumer's main queue. Records never reach it: each partition
// has its own queue.
#pragma once

#include "base/result.h"
#include "pipeline/kafka/handle.h"

namespace bloomring::kafka {

// Success while the client can go on; kFenced when another member has taken its instance id, else kFatal.
Status fatal_error(rd_kafka_t* client);

// Logs temporary errors (brokers down, authorisation of the group, ...). kFatal for a record: it would be lost.
enum class InGroup : uint8_t { kYes, kNo };
Status on_consumer_message(const rd_kafka_message_t& message, InGroup in_group);

}  // namespace bloomring::kafka
