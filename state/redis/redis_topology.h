// Which servers of a cluster have which slots, as CLUSTER SLOTS or CLUSTER SHARDS says; of servers that are no
// cluster, one range over all slots.
//
// Errors: kRetry for a reply of another form.
// Threading: values and pure functions.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "base/result.h"
#include "state/redis/redis_reply.h"
#include "state/redis/redis_slot.h"

namespace bloomring {

struct RedisSlotRange {
  uint16_t from = 0;
  uint16_t to = 0;  // Included.
  RedisAddress primary;
  std::vector<RedisAddress> replicas;
  bool operator==(const RedisSlotRange&) const = default;
};

class RedisTopology {
 public:
  RedisTopology() : range_of_(kRedisSlots, -1) {}
  // Later ranges win over earlier ones.
  void add(RedisSlotRange range);

  // Null for a slot that nobody has.
  const RedisSlotRange* find(uint16_t slot) const;
  // A server has said that it, and no longer the known one, has the slot.
  void move(uint16_t slot, const RedisAddress& to);
  std::set<RedisAddress> primaries() const;
  std::set<RedisAddress> servers() const;
  bool empty() const { return ranges_.empty(); }
  // Slots may move between the servers.
  bool cluster() const { return cluster_; }
  void set_cluster() { cluster_ = true; }

 private:
  std::vector<RedisSlotRange> ranges_;
  bool cluster_ = false;
  std::vector<int32_t> range_of_;  // By slot; -1: nobody's.
};

// `asked` is the server that gave the reply: an entry without a host means it.
Result<RedisTopology> parse_cluster_slots(const RedisReply& reply, const RedisAddress& asked);
Result<RedisTopology> parse_cluster_shards(const RedisReply& reply, const RedisAddress& asked);

}  // namespace bloomring
