// Internal to pipeline/kafka: a client handle made from our settings. Its log lines go to the log of the process.
#pragma once

#include <string>

#include "base/result.h"
#include "pipeline/kafka/handle.h"
#include "pipeline/kafka/settings.h"

namespace bloomring::kafka {

// kInvalid when `check` would say so.
Result<ConfHandle> consumer_conf(const ClientSettings& settings, size_t partitions_max);
Result<ConfHandle> producer_conf(const ClientSettings& settings);

// Of a client that connects to nothing; it logs as the others do.
ConfHandle bare_conf();

// Bounds of one partition's queue that keep it within its share of the memory.
struct QueueBounds {
  size_t payload_kbytes;  // queued.max.messages.kbytes: when it is reached, nothing more is asked for.
  size_t fetch_bytes;     // fetch.message.max.bytes: what may come on top, because it was asked for before.
};
QueueBounds queue_bounds(const ClientSettings& settings, size_t partitions_max);

// kInvalid when properties contradict each other. Connects when first needed.
Result<ClientHandle> make_client(ConfHandle conf, rd_kafka_type_t type);

// "no broker answered at HOST within 5 s: check kafka.bootstrap ...", for kRetry.
std::string no_answer(const std::string& bootstrap, int timeout_ms);

}  // namespace bloomring::kafka
