// Internal to pipeline/kafka: a client handle made from our settings. Its log lines go to spdlog.
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

// One partition's share of the prefetch budget in KiB: [1 MiB, 64 MiB].
size_t queue_kbytes(size_t queue_bytes_max, size_t partitions_max);

// kInvalid when properties contradict each other. Connects when first needed.
Result<ClientHandle> make_client(ConfHandle conf, rd_kafka_type_t type);

// "no broker answered at HOST within 5 s: check kafka.bootstrap ...", for kRetry.
std::string no_answer(const std::string& bootstrap, int timeout_ms);

}  // namespace bloomring::kafka
