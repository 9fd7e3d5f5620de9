#include "state/redis/redis_own_slots.h"

#include <sstream>

namespace bloomring {

namespace {

// "id address flags primary ping pong epoch link slot slot ...": the fields before the slots.
constexpr int kFlags = 2;
constexpr int kEpoch = 6;
constexpr int kFirstSlot = 8;

std::optional<RedisOwnSlots> own_slots_of(const std::string& line) {
  RedisOwnSlots found;
  std::istringstream words(line);
  std::string word;
  for (int field = 0; words >> word; ++field) {
    if (field == kFlags && ("," + word + ",").find(",myself,") == std::string::npos) return std::nullopt;
    if (field != kEpoch && field < kFirstSlot) continue;
    // "[93->-id]" leaves, "[93-<-id]" comes; others are "93" and "93-95".
    found.under_way = found.under_way || word.starts_with('[');
    found.text += word + " ";
  }
  return found.text.empty() ? std::nullopt : std::optional(std::move(found));
}

}  // namespace

RedisRequest own_slots_request(const RedisAddress& server) {
  RedisRequest request;
  append_redis_command(request.commands, {"CLUSTER", "NODES"});
  request.server = server;
  return request;
}

std::optional<RedisOwnSlots> parse_own_slots(const RedisReply& reply) {
  if (!reply.is(RedisReply::Kind::kBytes)) return std::nullopt;
  std::istringstream lines(reply.bytes);
  for (std::string line; std::getline(lines, line);)
    if (auto found = own_slots_of(line)) return found;
  return std::nullopt;
}

}  // namespace bloomring
