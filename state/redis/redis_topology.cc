#include "state/redis/redis_topology.h"

#include <utility>

namespace bloomring {

namespace {

using Kind = RedisReply::Kind;

Status other_form(std::string_view command, const RedisAddress& asked) {
  return retry(asked.text() + ": the reply to " + std::string(command) + " has another form");
}

bool is_slot(const RedisReply& reply) {
  return reply.is(Kind::kInteger) && reply.integer >= 0 && reply.integer < kRedisSlots;
}

// 0 for a number that is no port.
uint16_t port_of(const RedisReply& reply) {
  const bool sound = reply.is(Kind::kInteger) && reply.integer > 0 && reply.integer <= UINT16_MAX;
  return sound ? static_cast<uint16_t>(reply.integer) : 0;
}

// [host, port, ...] of CLUSTER SLOTS. False for a server whose address is not known.
bool read_server(const RedisReply& entry, const RedisAddress& asked, RedisAddress& out) {
  if (!entry.is(Kind::kArray) || entry.elements.size() < 2) return false;
  const std::string& host = entry.elements[0].bytes;
  if (host == "?") return false;
  out = {host.empty() ? asked.host : host, port_of(entry.elements[1])};
  return out.port != 0;
}

// The value of a name in a list of names and values.
const RedisReply* field(const RedisReply& list, std::string_view name) {
  for (size_t i = 0; i + 1 < list.elements.size(); i += 2)
    if (list.elements[i].bytes == name) return &list.elements[i + 1];
  return nullptr;
}

bool read_node(const RedisReply& node, const RedisAddress& asked, RedisAddress& out, bool& primary) {
  const RedisReply* const health = field(node, "health");
  const RedisReply* const port = field(node, "port");
  const RedisReply* const role = field(node, "role");
  const RedisReply* host = field(node, "endpoint");
  if (port == nullptr || role == nullptr) return false;
  if (host == nullptr || host->bytes.empty() || host->bytes == "?") host = field(node, "ip");
  if (health != nullptr && health->bytes == "fail") return false;
  out = {host == nullptr || host->bytes.empty() ? asked.host : host->bytes, port_of(*port)};
  primary = role->bytes == "master" || role->bytes == "primary";
  return out.port != 0;
}

}  // namespace

void RedisTopology::add(RedisSlotRange range) {
  const auto index = static_cast<int32_t>(ranges_.size());
  for (uint32_t slot = range.from; slot <= range.to; ++slot) range_of_[slot] = index;
  ranges_.push_back(std::move(range));
}

const RedisSlotRange* RedisTopology::find(uint16_t slot) const {
  const int32_t index = range_of_[slot];
  return index < 0 ? nullptr : &ranges_[static_cast<size_t>(index)];
}

void RedisTopology::move(uint16_t slot, const RedisAddress& to) {
  for (size_t i = 0; i < ranges_.size(); ++i) {
    if (ranges_[i].primary != to) continue;
    range_of_[slot] = static_cast<int32_t>(i);
    return;
  }
  add({slot, slot, to, {}});
}

std::set<RedisAddress> RedisTopology::primaries() const {
  std::set<RedisAddress> found;
  for (const int32_t index : range_of_)
    if (index >= 0) found.insert(ranges_[static_cast<size_t>(index)].primary);
  return found;
}

std::set<RedisAddress> RedisTopology::servers() const {
  std::set<RedisAddress> found;
  for (const RedisSlotRange& range : ranges_) {
    found.insert(range.primary);
    found.insert(range.replicas.begin(), range.replicas.end());
  }
  return found;
}

Result<RedisTopology> parse_cluster_slots(const RedisReply& reply, const RedisAddress& asked) {
  if (!reply.is(Kind::kArray)) return other_form("CLUSTER SLOTS", asked);
  RedisTopology topology;
  topology.set_cluster();
  for (const RedisReply& entry : reply.elements) {
    if (!entry.is(Kind::kArray) || entry.elements.size() < 3 || !is_slot(entry.elements[0]) ||
        !is_slot(entry.elements[1]))
      return other_form("CLUSTER SLOTS", asked);
    RedisSlotRange range{static_cast<uint16_t>(entry.elements[0].integer),
                         static_cast<uint16_t>(entry.elements[1].integer),
                         {},
                         {}};
    if (!read_server(entry.elements[2], asked, range.primary)) continue;
    for (size_t i = 3; i < entry.elements.size(); ++i) {
      RedisAddress replica;
      if (read_server(entry.elements[i], asked, replica)) range.replicas.push_back(std::move(replica));
    }
    topology.add(std::move(range));
  }
  return topology;
}

Result<RedisTopology> parse_cluster_shards(const RedisReply& reply, const RedisAddress& asked) {
  if (!reply.is(Kind::kArray)) return other_form("CLUSTER SHARDS", asked);
  RedisTopology topology;
  topology.set_cluster();
  for (const RedisReply& shard : reply.elements) {
    const RedisReply* const slots = field(shard, "slots");
    const RedisReply* const nodes = field(shard, "nodes");
    if (slots == nullptr || nodes == nullptr) return other_form("CLUSTER SHARDS", asked);
    RedisSlotRange range;
    for (const RedisReply& node : nodes->elements) {
      RedisAddress address;
      bool primary = false;
      if (!read_node(node, asked, address, primary)) continue;
      if (primary)
        range.primary = address;
      else
        range.replicas.push_back(address);
    }
    if (range.primary.port == 0) continue;
    for (size_t i = 0; i + 1 < slots->elements.size(); i += 2) {
      if (!is_slot(slots->elements[i]) || !is_slot(slots->elements[i + 1])) return other_form("CLUSTER SHARDS", asked);
      range.from = static_cast<uint16_t>(slots->elements[i].integer);
      range.to = static_cast<uint16_t>(slots->elements[i + 1].integer);
      topology.add(range);
    }
  }
  return topology;
}

}  // namespace bloomring
