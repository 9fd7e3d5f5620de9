#include "state/store/redis/redis_admin.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "base/faults/fault_point.h"
#include "base/hash.h"
#include "schemas/damaged_value.h"
#include "schemas/store/slot_end_key.h"
#include "schemas/store_key.h"
#include "schemas/store/shard_standing.h"
#include "state/redis/redis_own_slots.h"
#include "state/redis/redis_topology.h"
#include "state/store/check_store_meta.h"

namespace bloomring {

namespace {

constexpr std::string_view kKeysAtOnce = "1000";
constexpr int64_t kScanMs = 30'000;
constexpr uint64_t kFetchBytes = 16 << 20;
constexpr uint64_t kFirstFetch = 32;
constexpr uint64_t kKeysPerProgress = 100'000;

Result<bool> visit_some(RedisClient& client, std::span<const std::string> keys, const RedisVisit& visit,
                        uint64_t& largest) {
  std::vector<RedisRequest> requests;
  for (const std::string& key : keys) {
    RedisRequest request = get_request(key);
    request.timeout_ms = kScanMs;
    requests.push_back(std::move(request));
  }
  std::vector<RedisAnswer> answers = client.call_all(std::move(requests));
  for (size_t i = 0; i < keys.size(); ++i) {
    BLOOMRING_TRY(answers[i].status());
    const RedisReply& value = answers[i]->front();
    if (value.error() && redis_error(value.bytes) != RedisError::kWrongType) return redis_failure(value, "GET");
    if (value.is(RedisReply::Kind::kNil)) continue;  // Removed since.
    largest = std::max<uint64_t>(largest, value.bytes.size());
    BLOOMRING_TRY_ASSIGN(const bool more, visit(keys[i], value.error() ? std::string_view() : value.bytes));
    if (!more) return false;
  }
  return true;
}

// Values on the way take some kFetchBytes of memory, however large they are.
Result<bool> visit_all(RedisClient& client, const std::vector<std::string>& keys, const RedisVisit& visit) {
  uint64_t largest = kFetchBytes / kFirstFetch;
  for (size_t from = 0; from < keys.size();) {
    const size_t count = std::min<size_t>(std::max<uint64_t>(1, kFetchBytes / largest), keys.size() - from);
    largest = 1;
    BLOOMRING_TRY_ASSIGN(const bool more, visit_some(client, std::span(keys).subspan(from, count), visit, largest));
    if (!more) return false;
    from += count;
  }
  return true;
}

// Looks at one key after the other, as `bloomring store check` does.
class Checker {
 public:
  explicit Checker(const RedisStoreParts& parts) : parts_(parts) {}

  void look_at(std::string_view key, std::string_view value) { found.note_row(check(key, value)); }

  StoreCheck found;

 private:
  Status check(std::string_view key, std::string_view value) {
    if (parts_.keys.is_aside(key)) return corrupt("a value of another program, kept aside: key " + head_of(key));
    if (value.empty()) return corrupt("a value that is no string, under the key " + head_of(key));  // See visit_all.
    BLOOMRING_TRY_ASSIGN(const std::string_view logical, parts_.keys.logical(key));
    if (logical.empty()) return check_own(key, value);
    if (logical[0] == kForgottenKeyTag) return decode_forgotten(value, logical).status();
    return found.check_filter(logical, value);
  }

  Status check_own(std::string_view key, std::string_view value) {
    if (key == parts_.keys.probe()) return {};
    if (key == parts_.keys.slot_end_key()) return decode_slot_end_key(value).status();
    if (key == parts_.keys.meta())
      return check_store_meta(value, store_meta(parts_.config.partition_count, parts_.calendar()));
    if (const auto shard = parts_.keys.shard_of_state(key)) return parts_.decode(value, *shard).status();
    for (uint32_t p = 0; p < parts_.config.partition_count; ++p) {
      const PartitionId partition(static_cast<int32_t>(p));
      if (key == parts_.keys.owner(partition))
        return decode_shard_state(value, parts_.label(partition), partition, parts_.config.partition_count).status();
      if (key != parts_.keys.watermark(partition)) continue;
      BLOOMRING_TRY_ASSIGN(found.watermarks[partition],
                           decode_watermark(value, partition, parts_.config.partition_count));
      return {};
    }
    return corrupt("a key that is not ours: " + printable(key));
  }

  // A key of ours behind its hash tag has the id of a user.
  static std::string head_of(std::string_view key) {
    return printable(key.substr(0, key.find('}') + 2)) + "... of " + std::to_string(key.size()) + " bytes";
  }
  static std::string printable(std::string_view key) {
    std::string text(key);
    std::ranges::replace_if(text, [](char c) { return c <= ' ' || c >= '\x7f'; }, '?');
    return text;
  }

  const RedisStoreParts& parts_;
};

}  // namespace

RedisRequest RedisScan::step(const RedisStoreParts& parts, std::string_view keys_at_once) {
  RedisRequest request;
  append_redis_command(request.commands, {"SCAN", cursor_, "MATCH", parts.keys.pattern(), "COUNT", keys_at_once});
  request.server = server_;
  request.timeout_ms = kScanMs;
  request.binding = binding_;
  return request;
}

Result<std::vector<std::string>> RedisScan::take(RedisAnswer answer) {
  BLOOMRING_TRY(injected_failure("store.read"));
  if (!answer.ok() && binding_->broken && beginnings_ < kBeginningsMax) {
    ++beginnings_;
    cursor_ = "0";
    *binding_ = {};
    return std::vector<std::string>();
  }
  BLOOMRING_TRY_ASSIGN(RedisReply reply, only_reply(std::move(answer), server_.text() + ": SCAN"));
  if (reply.elements.size() != 2) return retry(server_.text() + ": the reply to SCAN has another form");
  cursor_ = reply.elements[0].bytes;
  ended_ = cursor_ == "0";
  std::vector<std::string> keys;
  for (RedisReply& key : reply.elements[1].elements) keys.push_back(std::move(key.bytes));
  return keys;
}

Status walk_redis_store(const RedisStoreParts& parts, RedisClient& client,
                        const std::function<bool(std::string_view key)>& wanted, const RedisVisit& visit) {
  BLOOMRING_TRY_ASSIGN(const std::vector<RedisAddress> servers, client.primaries());
  std::set<std::pair<uint64_t, uint64_t>> seen;  // By 128 bits: two of 64 bits are the same among billions.
  for (const RedisAddress& server : servers) {
    RedisScan scan(server);
    while (!scan.ended()) {
      BLOOMRING_TRY_ASSIGN(std::vector<std::string> keys, scan.take(client.call(scan.step(parts, kKeysAtOnce))));
      std::erase_if(keys, [&](const std::string& key) {
        return !wanted(key) || !seen.emplace(hash_bytes(key, 0), hash_bytes(key, 1)).second;
      });
      BLOOMRING_TRY_ASSIGN(const bool more, visit_all(client, keys, visit));
      if (!more) return {};
    }
  }
  return {};
}

Status scan_redis_store(const RedisStoreParts& parts, RedisClient& client,
                        const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit) {
  const int64_t now_ms = parts.clock.now_ms();
  const auto is_filter = [&](std::string_view key) {
    const auto logical = parts.keys.logical(key);
    return !logical.ok() || (!logical->empty() && (*logical)[0] == kFilterKeyTag);
  };
  const auto visit_filter = [&](std::string_view key, std::string_view value) -> Result<bool> {
    BLOOMRING_TRY_ASSIGN(const std::string_view logical, parts.keys.logical(key));
    BLOOMRING_TRY_ASSIGN(const FilterKey parsed, parse_filter_key(logical));
    if (!parts.life.kept(parsed, now_ms)) return true;
    const StoredFilter filter{parsed.period, std::string(logical), std::string(value)};
    BLOOMRING_TRY(check_stored(filter.value, filter.store_key));
    return visit(filter, parsed.user_key);
  };
  return walk_redis_store(parts, client, is_filter, visit_filter);
}

Status walk_redis_values(const RedisStoreParts& parts, RedisClient& client, ValueKind kind,
                         const std::function<bool(std::string_view store_key)>& wanted, const StoredVisit& visit) {
  const auto logical_of = [&](std::string_view key) {
    const auto logical = parts.keys.logical(key);
    return logical.ok() ? *logical : std::string_view();
  };
  const auto is_wanted = [&](std::string_view key) {
    const std::string_view logical = logical_of(key);
    return logical.starts_with(static_cast<char>(kind)) && wanted(logical);
  };
  return walk_redis_store(parts, client, is_wanted, [&](std::string_view key, std::string_view value) -> Result<bool> {
    const std::string_view logical = logical_of(key);
    if (value.empty()) return corrupt(describe_store_key(logical) + ": another program has replaced it by no string");
    return visit(logical, value);
  });
}

// kRetry while slots are under way: a walk would miss keys that move from a server that it comes to later to one that
// it has left. Servers that do not tell are passed over.
Status check_slots_stay(RedisClient& client) {
  BLOOMRING_TRY_ASSIGN(const std::vector<RedisAddress> servers, client.primaries());
  std::vector<RedisRequest> requests;
  for (const RedisAddress& server : servers) requests.push_back(own_slots_request(server));
  const std::vector<RedisAnswer> answers = client.call_all(std::move(requests));
  for (size_t i = 0; i < servers.size(); ++i) {
    BLOOMRING_TRY(answers[i].status());
    const std::optional<RedisOwnSlots> slots = parse_own_slots(answers[i]->front());
    if (slots && slots->under_way)
      return retry(servers[i].text() + ": slots are under way, and keys with them; let the resharding end first");
  }
  return {};
}

// The servers of the slots are in it, since a failover may lose writes, and a walk may miss keys that move. So are the
// writers of the partitions: a writer notices at its take-over that a server went back.
Result<uint64_t> redis_generation(const RedisStoreParts& parts, RedisClient& client) {
  BLOOMRING_TRY(check_slots_stay(client));
  std::string all;
  std::vector<std::string> keys{parts.keys.slot_end_key()};
  for (uint32_t p = 0; p < parts.config.partition_count; ++p)
    keys.push_back(parts.keys.owner(PartitionId(static_cast<int32_t>(p))));
  for (size_t i = 0; i < keys.size(); ++i) {
    BLOOMRING_TRY_ASSIGN(const RedisReply reply, only_reply(client.call(get_request(keys[i])), "GET " + keys[i]));
    if (i == 0) all += reply.bytes;
    if (i == 0 || reply.bytes.empty()) continue;
    const PartitionId partition(static_cast<int32_t>(i - 1));
    BLOOMRING_TRY_ASSIGN(const ShardState owner, decode_shard_state(reply.bytes, parts.label(partition), partition,
                                                                    parts.config.partition_count));
    all += std::to_string(owner.writer.epoch) + "." + std::to_string(owner.writer.random) + ";";
  }
  std::string command;
  append_redis_command(command, {"CLUSTER", "SLOTS"});
  const RedisAnswer slots = client.call(request_at(parts.keys.meta(), std::move(command)));
  BLOOMRING_TRY(slots.status());
  if (!slots->front().error()) {
    BLOOMRING_TRY_ASSIGN(const RedisTopology topology,
                         parse_cluster_slots(slots->front(), parts.config.addresses.front()));
    for (int slot = 0; slot < kRedisSlots; ++slot) {
      const RedisSlotRange* const range = topology.find(static_cast<uint16_t>(slot));
      all += range == nullptr ? "-" : range->primary.text();
    }
  }
  return hash_bytes(all, hash_bytes("generation", 0));
}

Status check_redis_holds(const RedisStoreParts& parts, RedisClient& client, const Watermarks& watermarks) {
  for (const auto& [partition, watermark] : watermarks) {
    const std::vector<ShardId> shards = parts.shards_of(partition);
    std::vector<RedisRequest> requests;
    for (const ShardId shard : shards) requests.push_back(get_request(parts.keys.shard_state(shard)));
    std::vector<RedisAnswer> answers = client.call_all(std::move(requests));
    for (size_t i = 0; i < shards.size(); ++i) {
      const std::string key = parts.keys.shard_state(shards[i]);
      BLOOMRING_TRY_ASSIGN(const RedisReply reply, only_reply(std::move(answers[i]), "GET " + key));
      BLOOMRING_TRY_ASSIGN(const std::optional<ShardState> state, parts.decode(reply.bytes, shards[i]));
      if (state && covers_all(state->mark, watermark)) continue;
      return retry("the filter store went back: " + parts.label(shards[i]) + " of " + parts.label(partition) +
                   " has lost writes, as after a failover to a replica that was behind. Let a merge stage run until " +
                   "it has merged them again");
    }
  }
  return {};
}

Result<StoreCheck> check_redis_store(const RedisStoreParts& parts, RedisClient& client,
                                     const StoreCheckProgress& progress) {
  Checker checker(parts);
  uint64_t looked_at = 0;
  const auto look = [&](std::string_view key, std::string_view value) -> Result<bool> {
    checker.look_at(key, value);
    if (progress && ++looked_at % kKeysPerProgress == 0) progress(checker.found);
    return true;
  };
  BLOOMRING_TRY(walk_redis_store(parts, client, [](std::string_view) { return true; }, look));
  return std::move(checker.found);
}

}  // namespace bloomring
