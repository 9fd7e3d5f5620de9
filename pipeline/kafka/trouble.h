// Internal to pipeline/kafka: translates librdkafka's last log line about an address into a helpful reason.
//
// A client without an answer only learns that no broker answered; the reason is in librdkafka's log. The last line
// about each address is kept, so that the error can name the reason.
// Threading: any thread.
#pragma once

#include <string>
#include <string_view>

namespace bloomring::kafka {

// The meaning of a line of librdkafka's log that is known to mislead; empty for other lines. Pure.
//   "Invalid response size 1213486160" -> "that port speaks HTTP, and belongs to no Kafka broker"
std::string meaning_of(std::string_view line);

// Keeps the meaning of a line for the address in it ("...: 127.0.0.1:8080/bootstrap: Receive failed: ...").
void note_trouble(std::string_view line);

// "127.0.0.1:8080: that port speaks HTTP, ..." for the first of these brokers with a known problem; empty
// without one.
std::string trouble_with(const std::string& bootstrap);

}  // namespace bloomring::kafka
