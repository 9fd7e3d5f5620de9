// Real redis-servers of a test's own on free loopback ports: single ones, and clusters.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "state/redis/redis_client.h"
#include "tests/support/folder.h"

namespace bloomring::testing {

class RedisServer {
 public:
  // `settings` are arguments of redis-server: {"--maxmemory", "5mb"}. Ready when it is made.
  explicit RedisServer(std::vector<std::string> settings = {}, bool cluster = false);
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  const RedisAddress& address() const { return address_; }
  // The reply, as text: lines of an array one after the other. Waits for it.
  std::string ask(const std::vector<std::string>& words) const;
  RedisReply reply(const std::vector<std::string>& words) const;
  void freeze();    // SIGSTOP.
  void unfreeze();
  void kill_now();  // SIGKILL, and waits for the end.
  void start();     // After kill_now: with the data on its disk.

 private:
  Folder folder_;
  std::vector<std::string> settings_;
  RedisAddress address_;
  uint16_t bus_port_ = 0;
  pid_t pid_ = -1;
};

// Primaries with the slots spread evenly, each with as many replicas.
class RedisCluster {
 public:
  RedisCluster(size_t primaries, size_t replicas_of_each, std::vector<std::string> settings = {});

  std::vector<RedisAddress> addresses() const;
  RedisServer& primary(size_t i) { return *primaries_[i]; }
  RedisServer& replica(size_t i) { return *replicas_[i]; }
  size_t primary_of(uint16_t slot) const;  // As it was made.
  // Moves the slot with its keys to another primary.
  void move_slot(uint16_t slot, size_t from, size_t to);
  // The two halves of a move: between them the slot is under way.
  void begin_move(uint16_t slot, size_t from, size_t to);
  void move_keys(uint16_t slot, size_t from, size_t to, size_t keys_max);
  void end_move(uint16_t slot, size_t to);  // Waits until all primaries agree.

 private:
  std::string id_of(const RedisServer& server) const;
  // Each server's id, epoch and slots, as this one sees them.
  std::string view_of(const RedisServer& server) const;
  std::vector<RedisServer*> all() const;
  std::vector<std::unique_ptr<RedisServer>> primaries_;
  std::vector<std::unique_ptr<RedisServer>> replicas_;
};

// The settings of a server with a user of these rules: "site on >secret ~* +@all".
std::vector<std::string> redis_user(const std::string& rules);

// Calls `met` until it is true; ends the test program after half a minute.
void wait_until_true(const std::string& what, const std::function<bool()>& met);

}  // namespace bloomring::testing
