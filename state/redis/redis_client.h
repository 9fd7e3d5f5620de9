// The client of a cluster of the Redis protocol, of a single server, or of a primary with replicas: sends each request
// to the server that has its slot, follows redirects, and tries again what a server or the way to it did not answer,
// until the time of the request is over.
//
// A request may be carried out twice (its connection broke before the answer), so every request of this store changes
// nothing the second time. Order is kept between the commands of one request alone.
//
//     begin --> [topology] --> server of the slot --> answered --> end
//                  ^                |  MOVED, ASK: the other server
//                  +---- delayed ---+  TRYAGAIN, CLUSTERDOWN, LOADING, a broken connection: later, the topology again
//
// A server that cannot be reached is left alone for a time that doubles from 20 ms to 2 s. Requests that ask for it
// (`fail_fast`) end at once meanwhile: the circuit breaker of reads. A connection on which the oldest answer is late by
// more than timeout_ms is given up. So what waits on it is bounded: by what begins within the time of a request and
// timeout_ms.
// Errors: kRetry when the time is over, with the last thing that went wrong; kInvalid for a login that is refused and
// for an endpoint of another protocol, as long as no server of the store was found yet.
// Threading: thread safe. One thread of the client does all the work and calls every `end`; `close` and the destructor
// end what is under way with kRetry before they return.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "state/redis/redis_client_config.h"
#include "state/redis/redis_connection.h"
#include "state/redis/redis_counters.h"
#include "state/redis/redis_network.h"
#include "state/redis/redis_reply.h"
#include "state/redis/redis_sockets.h"

namespace bloomring {

class RedisRouter;

class RedisClient {
 public:
  // `counters` and `network` outlive the client. `name` is the thread's, at most 15 characters.
  RedisClient(std::string name, RedisClientConfig config, RedisCounters& counters,
              RedisNetwork& network = redis_sockets());
  ~RedisClient();
  RedisClient(const RedisClient&) = delete;
  RedisClient& operator=(const RedisClient&) = delete;

  // From now on nothing is begun. Where an `end` of one client asks another one, all are closed before one is
  // destroyed.
  void close();

  // False, and nothing else happens, when in_flight_max requests are under way or the client is closed.
  [[nodiscard]] bool begin(RedisRequest request);
  // Waits for the end: for places where a partition opens, and for tools. Never on the client's thread.
  RedisAnswer call(RedisRequest request);
  // Answers in the order of the requests, all of them at once on the way.
  std::vector<RedisAnswer> call_all(std::vector<RedisRequest> requests);

  // The primaries as last known, after the first topology: waits for them, or calls `ended` as a request's `end`.
  Result<std::vector<RedisAddress>> primaries();
  void begin_primaries(std::function<void(Result<std::vector<RedisAddress>>)> ended);
  // The same with the replicas of each. Waits.
  Result<std::vector<RedisAddress>> servers();
  // False of one server, and of a primary with replicas, once that is known. Never waits.
  bool slots_may_move() const;
  const RedisClientConfig& config() const { return config_; }

 private:
  bool turn();
  // The value, once it is there.
  template <typename Value>
  Value await(std::future<Value>& promised);
  bool take_new();
  // Calls `ended` on the client's thread once a topology is known.
  void begin_with_topology(std::function<void(Status)> ended);

  const RedisClientConfig config_;
  std::atomic<size_t> in_flight_{0};
  std::mutex mutex_;
  std::deque<SharedRequest> queue_;
  bool stop_ = false;
  RedisNetwork& network_;
  std::unique_ptr<RedisRouter> router_;  // Of the thread.
  std::unique_ptr<RedisLoop> loop_;      // Last: it uses the rest.
};

}  // namespace bloomring
