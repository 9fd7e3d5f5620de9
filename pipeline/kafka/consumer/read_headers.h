// Internal to pipeline/kafka: the headers of a message, as values.
// Threading: pure function; the message is used by one thread.
#pragma once

#include "pipeline/io/io.h"
#include "pipeline/kafka/handle.h"

namespace bloomring::kafka {

// A header without a value gets an empty one.
RecordHeaders read_headers(const rd_kafka_message_t& message);

}  // namespace bloomring::kafka
