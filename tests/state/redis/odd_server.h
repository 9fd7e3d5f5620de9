// A server of the Redis protocol that does what no real one does on demand. It stands in front of a real one: it passes
// each command on and brings the reply back, one command of a connection after the other, unless the test answers it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "state/redis/redis_reply.h"
#include "tests/support/redis_servers.h"

namespace bloomring::testing {

class OddServer {
 public:
  using Words = std::vector<std::string>;
  // The bytes of the reply; nothing: the real server is asked. Called on a thread for each connection, and may wait.
  using Answer = std::function<std::optional<std::string>(const Words&)>;

  // `behind` outlives this one.
  OddServer(const RedisServer& behind, Answer answer);
  // `answer` waits no more.
  ~OddServer();
  OddServer(const OddServer&) = delete;
  OddServer& operator=(const OddServer&) = delete;

  const RedisAddress& address() const { return address_; }

 private:
  void accept_all();
  void serve(int client);

  const RedisServer& behind_;
  const Answer answer_;
  int listener_ = -1;
  RedisAddress address_;
  std::mutex mutex_;
  bool stop_ = false;
  std::vector<int> sockets_;  // Of the connections.
  std::list<std::thread> threads_;
  std::thread accepting_;
};

}  // namespace bloomring::testing
