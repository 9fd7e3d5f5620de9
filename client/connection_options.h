// How a client's connections behave. Threading: values.
#pragma once

#include <cstdint>

namespace bloomring {

struct ConnectionOptions {
  // A connection that is quiet for so long is pinged, and given up when nothing comes back within the timeout: its
  // calls are then UNAVAILABLE, where a host that has vanished would otherwise hold them until their deadline, for
  // minutes. 0: never. The service closes connections that ping more often than every ten seconds.
  int64_t keepalive_ms = 30'000;
  int64_t keepalive_timeout_ms = 5'000;
  int64_t connect_timeout_ms = 5'000;   // Of one attempt to connect.
  int32_t answer_bytes_max = 64 << 20;  // The snapshot of the heaviest user is above gRPC's own 4 MiB.
};

}  // namespace bloomring
