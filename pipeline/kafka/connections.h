// How the Kafka clients of this process stand with their brokers, as librdkafka's statistics say it every five seconds.
//
// Clients that are not polled (those that ask once and go) say nothing.
// Threading: any thread.
#pragma once

#include <cstdint>
#include <string>

namespace bloomring::kafka {

struct Connections {
  uint64_t up = 0;
  uint64_t down = 0;              // Wanted, and not there: refused, lost, or being made.
  uint64_t disconnects = 0;       // Since the start of the process.
  double round_trip_seconds = 0;  // The longest of the connections' means; 0 while nothing was said.
};

// Of all clients together.
Connections connections();

std::string library_version();  // "2.0.2"

}  // namespace bloomring::kafka
