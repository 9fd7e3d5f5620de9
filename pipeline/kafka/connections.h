// The connections of this process's Kafka clients to their brokers, from librdkafka's statistics every five seconds.
//
// Clients that are not polled (they ask once and end) do not count.
// Threading: any thread.
#pragma once

#include <cstdint>
#include <string>

namespace bloomring::kafka {

struct Connections {
  uint64_t up = 0;
  uint64_t down = 0;              // Wanted but not up: refused, lost, or connecting.
  uint64_t disconnects = 0;       // Since the start of the process.
  double round_trip_seconds = 0;  // The longest of the connections' means; 0 while unknown.
};

// Of all clients together.
Connections connections();

std::string library_version();  // "2.0.2"

}  // namespace bloomring::kafka
