// Internal to pipeline/kafka: what librdkafka last said about its connection to an address, in words that help.
//
// A client that asks in vain only learns that no broker answered; why stands in the log. The last line about each
// address is kept, so that the failure can name it.
// Threading: any thread.
#pragma once

#include <string>
#include <string_view>

namespace bloomring::kafka {

// What a line of librdkafka's log means when it is known to mislead; empty otherwise. Pure.
//   "Invalid response size 1213486160" -> "what listens there speaks HTTP, and is no Kafka broker"
std::string meaning_of(std::string_view line);

// Keeps what a line means for the address in it ("...: 127.0.0.1:8080/bootstrap: Receive failed: ...").
void note_trouble(std::string_view line);

// "127.0.0.1:8080: what listens there speaks HTTP, ..." for the first of these brokers that has trouble; empty when
// none has any that is known.
std::string trouble_with(const std::string& bootstrap);

}  // namespace bloomring::kafka
