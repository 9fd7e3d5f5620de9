// Internal to pipeline/kafka: makes a client handle from our settings. Its log lines go to the log of the process.
#pragma once

#include <string>

#include "base/result.h"
#include "pipeline/kafka/handle.h"
#include "pipeline/kafka/settings.h"

namespace bloomring::kafka {

// kInvalid when `check` fails.
Result<ConfHandle> consumer_conf(const ClientSettings& settings, size_t partitions_max);
Result<ConfHandle> producer_conf(const ClientSettings& settings);

// For a client that connects to nothing; it logs like the others.
ConfHandle bare_conf();

// Bounds of one partition's queue that keep it within its share of the memory.
struct QueueBounds {
  size_t payload_kbytes;  // queued.max.messages.kbytes: at it, fetching stops.
  size_t fetch_bytes;     // fetch.message.max.bytes: may come in addition, from fetches in flight.
};
QueueBounds queue_bounds(const ClientSettings& settings, size_t partitions_max);

// kInvalid when properties contradict each other. Connects when first needed.
Result<ClientHandle> make_client(ConfHandle conf, rd_kafka_type_t type);

// "no broker answered at HOST within 5 s: check kafka.bootstrap ...", for kRetry.
std::string no_answer(const std::string& bootstrap, int timeout_ms);

}  // namespace bloomring::kafka
