// The work of a RedisClient's thread: it routes requests to connections (redis_client.h has the rules), and has the
// topology searched for when something is wrong with it, and from time to time (redis_discovery.h).
//
// Errors: each message names the server that was asked, or the addresses where no server was found, and a way out.
// Threading: used by one thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "state/redis/redis_client_config.h"
#include "state/redis/redis_connection.h"
#include "state/redis/redis_counters.h"
#include "state/redis/redis_discovery.h"
#include "state/redis/redis_network.h"
#include "state/redis/redis_topology.h"

namespace bloomring {

class RedisRouter final : private RedisDiscovery::Owner {
 public:
  RedisRouter(const RedisClientConfig& config, RedisCounters& counters, std::atomic<size_t>& in_flight,
              RedisNetwork& network);
  ~RedisRouter() override;

  void submit(SharedRequest request);
  // Waits for the network, for `wake` or for the next due time, and does what is to do.
  void step(RedisLoop& loop);
  // The primaries, to `out`, once a topology is known.
  std::vector<RedisAddress> primaries() const;
  // The same, and the replicas.
  std::vector<RedisAddress> servers() const;
  // False once a topology is known that is no cluster's, and none before it was. Thread safe.
  bool slots_may_move() const { return slots_may_move_; }

 private:
  struct Node {
    std::unique_ptr<RedisConnection> connection;
    uint32_t failures = 0;
    int64_t not_before_ns = 0;
    std::string problem;
    uint64_t sent = 0, received = 0;  // Counted so far of the connection.
  };
  using NodeKey = std::pair<RedisAddress, bool>;  // True: for reads of a replica.

  void dispatch(const SharedRequest& request);
  void send_to(const RedisAddress& server, bool to_replica, const SharedRequest& request, bool asking);
  void delay(const SharedRequest& request, int64_t due_ns) { delayed_.emplace(due_ns, request); }
  void hold_again(const SharedRequest& request);
  void take_answer(const SharedRequest& request, const RedisAddress& from);
  void follow(const SharedRequest& request, const RedisReply& error, bool asking, const RedisAddress& from);
  void end(const SharedRequest& request, RedisAnswer answer);
  void break_node(const NodeKey& key, const Status& why);
  void advance(const NodeKey& key, const RedisReadiness& ready);
  void count_bytes(Node& node);
  void run_due();
  void drop_slow();
  int poll_timeout_ms() const;

  void want_topology() { topology_wanted_ = true; }
  void refresh_if_due();
  void ask(const RedisAddress& server, std::initializer_list<std::string_view> words,
           std::function<void(RedisAnswer)> ended) override;
  void found(const RedisAddress& from, RedisTopology topology) override;
  void not_found(const std::string& finding, const std::string& way_out) override;
  void note_problem(std::string problem) override { problem_ = std::move(problem); }
  void note_refusal(Status refusal) override { refusal_ = std::move(refusal); }
  std::string with_problem(const std::string& finding, const std::string& way_out) const;
  // "a:6379, b:6379": where the topology is asked for first.
  std::string addresses() const;
  std::string see_server() const;  // The way out of a server that does not answer.

  const RedisClientConfig& config_;
  RedisCounters& counters_;
  std::atomic<size_t>& in_flight_;
  RedisNetwork& network_;
  int64_t now_ns_ = 0;
  std::map<NodeKey, Node> nodes_;
  std::multimap<int64_t, SharedRequest> delayed_;    // By when they are tried again.
  std::multimap<int64_t, SharedRequest> lates_;      // By when they are late...
  std::multimap<int64_t, SharedRequest> deadlines_;  // ...and too late. Also of requests that have ended.

  RedisTopology topology_;
  bool cluster_seen_ = false;
  std::atomic<bool> slots_may_move_{true};
  RedisAddress topology_from_;  // The server that gave it.
  std::string problem_;  // The last thing that went wrong, for messages.
  bool topology_wanted_ = true;
  bool asking_ = false;
  int64_t topology_due_ns_ = 0;    // Not before, when something is wrong...
  int64_t topology_stale_ns_ = 0;  // ...and at the latest.
  RedisDiscovery discovery_;
  Status refusal_;  // kInvalid of one of the servers.
  uint32_t turn_ = 0;
  uint64_t connections_ = 0;  // Opened so far: the number of the last one.
};

}  // namespace bloomring
