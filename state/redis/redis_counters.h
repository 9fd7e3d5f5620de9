// Counts of the clients of the Redis protocol (redis_client.h), since the start.
//
// Threading: thread safe; all clients of a process may share one.
#pragma once

#include <atomic>
#include <cstdint>

namespace bloomring {

struct RedisCounters {
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> failed{0};      // Ended without an answer.
  std::atomic<uint64_t> redirects{0};   // MOVED and ASK.
  std::atomic<uint64_t> tried_again{0};
  std::atomic<uint64_t> connects{0};
  std::atomic<uint64_t> breaks{0};      // Connections that failed.
  std::atomic<uint64_t> bytes_sent{0};
  std::atomic<uint64_t> bytes_received{0};
  std::atomic<uint64_t> nanoseconds{0};  // Of requests that were answered, together.
};

}  // namespace bloomring
