// Internal to pipeline/kafka: what librdkafka says of itself, on its way to `connections`.
#pragma once

#include <string_view>

#include "pipeline/kafka/handle.h"

namespace bloomring::kafka {

// Every client's. The text is what STATISTICS.md of librdkafka describes; one that is no JSON changes nothing.
void take_statistics(const rd_kafka_t* client, std::string_view json);
// The same, as librdkafka calls it.
int on_statistics(rd_kafka_t* client, char* json, size_t size, void* opaque);

}  // namespace bloomring::kafka
