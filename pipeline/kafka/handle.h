// Internal to pipeline/kafka: owning types for librdkafka's handles. The only place that includes its header.
//
// Order of destruction matters: every list, event, message, queue and topic handle must be destroyed before the
// client, or rd_kafka_destroy never returns. Declare the client first.
#pragma once

#include <librdkafka/rdkafka.h>

#include <memory>

#include "base/destroy.h"

namespace bloomring::kafka {

using ConfHandle = std::unique_ptr<rd_kafka_conf_t, Destroy<rd_kafka_conf_destroy>>;
// Removes the client's connections from `connections`, and destroys it (connections.cc).
void destroy_client(rd_kafka_t* client);

using ClientHandle = std::unique_ptr<rd_kafka_t, Destroy<destroy_client>>;
using QueueHandle = std::unique_ptr<rd_kafka_queue_t, Destroy<rd_kafka_queue_destroy>>;
using EventHandle = std::unique_ptr<rd_kafka_event_t, Destroy<rd_kafka_event_destroy>>;
using MessageHandle = std::unique_ptr<rd_kafka_message_t, Destroy<rd_kafka_message_destroy>>;
using TopicHandle = std::unique_ptr<rd_kafka_topic_t, Destroy<rd_kafka_topic_destroy>>;
using HeadersHandle = std::unique_ptr<rd_kafka_headers_t, Destroy<rd_kafka_headers_destroy>>;
using MetadataHandle = std::unique_ptr<const rd_kafka_metadata_t, Destroy<rd_kafka_metadata_destroy>>;
using PartitionListHandle =
    std::unique_ptr<rd_kafka_topic_partition_list_t, Destroy<rd_kafka_topic_partition_list_destroy>>;

}  // namespace bloomring::kafka
