#include "state/redis/redis_discovery.h"

#include <utility>

namespace bloomring {

void RedisDiscovery::begin(std::vector<RedisAddress> servers) {
  left_ = std::move(servers);
  ask_next();
}

void RedisDiscovery::ask_next() {
  if (left_.empty()) {
    return owner_.not_found("no server of " + config_.names.key("addresses") + " answers",
                            "see that they run and can be reached from here, or correct the list");
  }
  const RedisAddress server = left_.back();
  left_.pop_back();
  owner_.ask(server, {"CLUSTER", "SLOTS"},
             [this, server](RedisAnswer answer) { take_slots(server, std::move(answer)); });
}

void RedisDiscovery::take_slots(const RedisAddress& from, RedisAnswer answer) {
  if (!answer.ok()) return ask_next();
  const RedisReply& reply = answer->front();
  if (!reply.error()) {
    auto topology = parse_cluster_slots(reply, from);
    if (!topology.ok()) owner_.note_problem(topology.status().message());
    // Nothing assigned: a server that has just begun, or left the cluster.
    if (topology.ok() && topology->empty()) {
      owner_.note_problem(from.text() +
                          ": no slot is assigned; let the server join the cluster (CLUSTER MEET), or name another");
    }
    if (!topology.ok() || topology->empty()) return ask_next();
    return owner_.found(from, std::move(*topology));
  }
  if (reply.bytes.find("cluster support disabled") != std::string::npos ||
      reply.bytes.find("Cluster mode is not enabled") != std::string::npos) {
    roles_ = {};
    return ask_roles(0);
  }
  switch (redis_error(reply.bytes)) {
    case RedisError::kUnknownCommand:
      return owner_.ask(from, {"CLUSTER", "SHARDS"},
                        [this, from](RedisAnswer shards) { take_shards(from, std::move(shards)); });
    case RedisError::kNoLogin:
    case RedisError::kForbidden:
      owner_.note_refusal(redis_failure(reply, from.text() + ": CLUSTER SLOTS", config_.names));
      break;
    default: owner_.note_problem(from.text() + ": CLUSTER SLOTS: " + reply.bytes);
  }
  ask_next();
}

void RedisDiscovery::take_shards(const RedisAddress& from, RedisAnswer answer) {
  if (!answer.ok()) return ask_next();
  if (answer->front().error()) {  // No CLUSTER at all.
    roles_ = {};
    return ask_roles(0);
  }
  auto topology = parse_cluster_shards(answer->front(), from);
  if (!topology.ok() || topology->empty()) return ask_next();
  owner_.found(from, std::move(*topology));
}

// Servers that are no cluster: the first that calls itself a primary is the primary.
void RedisDiscovery::ask_roles(size_t index) {
  if (index == config_.addresses.size()) {
    if (roles_.empty()) {
      return owner_.not_found("no primary among " + config_.names.key("addresses"),
                              "name the primary, too, or make one of them (REPLICAOF NO ONE)");
    }
    const RedisAddress primary = *roles_.primaries().begin();
    return owner_.found(primary, std::move(roles_));
  }
  owner_.ask(config_.addresses[index], {"ROLE"},
             [this, index](RedisAnswer answer) { take_role(index, std::move(answer)); });
}

void RedisDiscovery::take_role(size_t index, RedisAnswer answer) {
  const RedisAddress& server = config_.addresses[index];
  if (answer.ok() && roles_.empty()) {
    const RedisReply& reply = answer->front();
    const std::string role = reply.elements.empty() ? "" : reply.elements[0].bytes;
    if (role == "master" || (reply.error() && redis_error(reply.bytes) == RedisError::kUnknownCommand)) {
      RedisSlotRange range{0, kRedisSlots - 1, server, {}};
      for (const RedisAddress& other : config_.addresses)
        if (other != server) range.replicas.push_back(other);
      roles_.add(std::move(range));
    } else if (reply.error()) {
      owner_.note_refusal(redis_failure(reply, server.text() + ": ROLE", config_.names));
    } else {
      owner_.note_problem(server.text() + " is a " + (role.empty() ? "server without a role" : role));
    }
  }
  ask_roles(index + 1);
}

}  // namespace bloomring
