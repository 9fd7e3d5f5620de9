// The search for the topology of a store's servers: who is the primary of which slots.
//
//   CLUSTER SLOTS of one server after the other   --> the slots of a cluster
//     a server without that command: CLUSTER SHARDS --> the same
//     a server that is no cluster, or has no CLUSTER:
//   ROLE of each configured server                --> the first that calls itself a primary has all slots
//
// Errors: a search that finds nothing ends in `not_found`. The failures on the way are told as they come, each with
// the server that was asked.
// Threading: used by one thread.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "state/redis/redis_client_config.h"
#include "state/redis/redis_connection.h"
#include "state/redis/redis_topology.h"

namespace bloomring {

class RedisDiscovery {
 public:
  // The owner of the connections, for which the search is made.
  class Owner {
   public:
    virtual ~Owner() = default;
    // Sends one command to the server. Calls `ended` once with its answer, perhaps before this returns.
    virtual void ask(const RedisAddress& server, std::initializer_list<std::string_view> words,
                     std::function<void(RedisAnswer)> ended) = 0;
    // The ends of a search.
    virtual void found(const RedisAddress& from, RedisTopology topology) = 0;  // `from` gave it.
    virtual void not_found(const std::string& finding, const std::string& way_out) = 0;
    // Of one server. The search goes on.
    virtual void note_problem(std::string problem) = 0;
    virtual void note_refusal(Status refusal) = 0;  // kInvalid: no server of its kind will ever answer this client.
  };

  // Both outlive the search.
  RedisDiscovery(const RedisClientConfig& config, Owner& owner) : config_(config), owner_(owner) {}

  // Begins a search: asks these servers, the last one first. The search before it has ended.
  void begin(std::vector<RedisAddress> servers);

 private:
  void ask_next();
  void take_slots(const RedisAddress& from, RedisAnswer answer);
  void take_shards(const RedisAddress& from, RedisAnswer answer);
  void ask_roles(size_t index);
  void take_role(size_t index, RedisAnswer answer);

  const RedisClientConfig& config_;
  Owner& owner_;
  std::vector<RedisAddress> left_;  // To be asked yet.
  RedisTopology roles_;             // Of servers that are no cluster.
};

}  // namespace bloomring
