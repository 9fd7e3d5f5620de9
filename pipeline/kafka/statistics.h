// Internal to pipeline/kafka: passes librdkafka's statistics to `connections`.
#pragma once

#include <string_view>

#include "pipeline/kafka/handle.h"

namespace bloomring::kafka {

// Takes the statistics of a client, in the format of librdkafka's STATISTICS.md. Ignores text that is not JSON.
void take_statistics(const rd_kafka_t* client, std::string_view json);
// The same, as a callback of librdkafka.
int on_statistics(rd_kafka_t* client, char* json, size_t size, void* opaque);

}  // namespace bloomring::kafka
