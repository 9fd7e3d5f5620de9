// The settings of a client's connections.
// Threading: values.
#pragma once

#include <cstdint>

namespace bloomring {

struct ConnectionOptions {
  // The client pings a connection that was idle for this long, and gives it up without an answer within the timeout.
  // Its calls are then UNAVAILABLE; otherwise a host that has vanished would hold calls until their deadline for
  // minutes. 0: never. The service closes connections that ping more often than every ten seconds.
  int64_t keepalive_ms = 30'000;
  int64_t keepalive_timeout_ms = 5'000;
  int64_t connect_timeout_ms = 5'000;   // Of one attempt to connect.
  int32_t answer_bytes_max = 64 << 20;  // The largest user's snapshot exceeds gRPC's default of 4 MiB.
};

}  // namespace bloomring
