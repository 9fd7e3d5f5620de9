// Any bytes from a server of the Redis protocol: the same replies however the stream is cut, refused with a reason, or
// read; each reply as the slots of a cluster, as a failure, as a redirection, and as an address.
#include <algorithm>
#include <vector>

#include "base/result.h"
#include "schemas/pieces/bytes.h"
#include "state/redis/redis_reply.h"
#include "state/redis/redis_topology.h"

using namespace bloomring;

namespace {

const RedisAddress kAsked{"asked", 6379};

bool same(const RedisReply& a, const RedisReply& b) {
  return a.kind == b.kind && a.integer == b.integer && a.bytes == b.bytes &&
         std::ranges::equal(a.elements, b.elements, same);
}

struct Stream {
  std::vector<RedisReply> replies;
  bool refused = false;
};

// `piece_bytes` at a time; a connection ends with the first failure.
Stream read(std::string_view bytes, size_t piece_bytes) {
  Stream stream;
  RedisReplyReader reader;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, piece_bytes);
    bytes.remove_prefix(piece.size());
    BLOOMRING_CHECK(reader.feed(piece).ok(), "small pieces can be buffered");
    for (;;) {
      auto next = reader.next();
      if (!next.ok()) {
        BLOOMRING_CHECK(next.code() == Code::kInvalid && !next.status().message().empty(), "refused with a reason");
        stream.refused = true;
        return stream;
      }
      if (!next->has_value()) break;
      stream.replies.push_back(std::move(**next));
    }
  }
  return stream;
}

void check_slots(const Result<RedisTopology>& slots) {
  if (!slots.ok()) {
    BLOOMRING_CHECK(slots.code() == Code::kRetry && !slots.status().message().empty(), "refused with a reason");
    return;
  }
  RedisTopology topology = *slots;
  for (const RedisAddress& server : topology.servers())
    BLOOMRING_CHECK(server.port != 0, "an address that can be asked");
  for (uint32_t slot = 0; slot < kRedisSlots; slot += 257) {
    const RedisSlotRange* const range = topology.find(static_cast<uint16_t>(slot));
    BLOOMRING_CHECK(range == nullptr || (range->from <= slot && slot <= range->to), "the range of a slot has it");
  }
  topology.move(kRedisSlots - 1, kAsked);
  BLOOMRING_CHECK(topology.find(kRedisSlots - 1)->primary == kAsked, "a slot that moved is where it moved to");
}

void check_texts(const std::string& text) {
  if (const auto redirect = parse_redirect(text, kAsked); redirect.ok()) {
    BLOOMRING_CHECK(redirect->to.port != 0 && !redirect->to.host.empty(), "a redirection has an address");
    BLOOMRING_CHECK(redirect->slot < kRedisSlots, "a redirection has a slot of a cluster");
  }
  const auto address = parse_redis_address(text);
  if (!address.ok()) return;
  const auto again = parse_redis_address(address->text());
  BLOOMRING_CHECK(again.ok() && *again == *address, "an address can be written and read");
}

void check_reply(const RedisReply& reply) {
  check_slots(parse_cluster_slots(reply, kAsked));
  check_slots(parse_cluster_shards(reply, kAsked));
  check_texts(reply.bytes);
  const Status failure = redis_failure(reply, "GET");
  const auto printable = [](char c) { return c >= ' ' && c < '\x7f'; };
  BLOOMRING_CHECK(!failure.ok() && std::ranges::all_of(failure.message(), printable),
                  "a failure has a message that can be printed");
}

}  // namespace

// The bytes of a piece (1 byte), the stream.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Stream whole = read(bytes, bytes.size());
  const Stream pieces = read(bytes, 1 + data[0] % 16);
  BLOOMRING_CHECK(whole.refused == pieces.refused && std::ranges::equal(whole.replies, pieces.replies, same),
                  "the same replies, however the stream is cut");
  for (const RedisReply& reply : whole.replies) check_reply(reply);
  return 0;
}
