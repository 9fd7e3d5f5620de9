#include "state/store/redis/redis_start.h"

#include <string>
#include <utility>
#include <vector>

#include "schemas/store/slot_end_key.h"
#include "state/store/check_store_meta.h"

namespace bloomring {

namespace {

// Everything that kCompareAndSet does, on a key that it removes again. ARGV: when it expires, its value.
constexpr std::string_view kProbe = R"lua(
redis.call('SET', KEYS[1], ARGV[2])
redis.call('PEXPIREAT', KEYS[1], ARGV[1])
local found = redis.call('GET', KEYS[1])
redis.call('DEL', KEYS[1])
return string.lower(redis.sha1hex(found or ''))
)lua";
constexpr int64_t kFarMs = 4'000'000'000'000;  // The year 2096.

// Some servers' scripts take text alone, and write another byte for each one that is none.
std::string every_byte() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  return bytes;
}

Result<RedisReply> ask(const RedisStoreParts& parts, RedisClient& client, std::string_view name, std::string command) {
  return only_reply(client.call(request_at(parts.keys.meta(), std::move(command))), name);
}

std::string command(std::initializer_list<std::string_view> words) {
  std::string bytes;
  append_redis_command(bytes, words);
  return bytes;
}

// Of a reply to TIME.
std::optional<int64_t> seconds_of(const RedisAnswer& time) {
  if (!time.ok() || time->front().elements.size() != 2) return std::nullopt;
  return parse_redis_number<int64_t>(time->front().elements[0].bytes);
}

Status check_clock(const RedisAddress& server, int64_t server_s, int64_t own_s) {
  constexpr int64_t kDayS = kExpiryAheadMs / 1000;
  if (server_s >= own_s - kDayS && server_s <= own_s + kDayS) return {};
  const bool ahead = server_s > own_s;
  const uint64_t off_s = ahead ? static_cast<uint64_t>(server_s) - static_cast<uint64_t>(own_s)
                               : static_cast<uint64_t>(own_s) - static_cast<uint64_t>(server_s);
  return invalid("the clock of the server " + server.text() + " is " + std::to_string(off_s / 3600) + " hours " +
                 (ahead ? "ahead of" : "behind") +
                 " that of this machine, and it removes filters by its clock: set both clocks right");
}

}  // namespace

Status check_redis_commands(const RedisStoreParts& parts, RedisClient& client, bool writes) {
  const std::string meta = parts.keys.meta(), probe = parts.keys.probe();
  const auto check = [&]() -> Status {
    BLOOMRING_TRY(ask(parts, client, "GET", command({"GET", meta})).status());
    BLOOMRING_TRY(ask(parts, client, "MGET", command({"MGET", meta, probe})).status());
    BLOOMRING_TRY(ask(parts, client, "EXISTS", command({"EXISTS", meta})).status());
    if (!writes) return {};
    BLOOMRING_TRY_ASSIGN(const RedisReply sum,
                         ask(parts, client, "EVAL with GET, SET, PEXPIREAT, DEL and redis.sha1hex",
                             command({"EVAL", kProbe, "1", probe, std::to_string(kFarMs), every_byte()})));
    if (sum.bytes != sha1_hex(every_byte()))
      return invalid("the server's scripts change the bytes that they write, or redis.sha1hex in them gives another "
                     "result: its values would be damaged; use another server");
    if (parts.config.min_replicas == 0) return {};
    return ask(parts, client, "WAIT (for store.redis.min_replicas)", command({"WAIT", "0", "1"})).status();
  };
  return check().with_context(parts.name());
}

Status check_redis_clocks(const RedisStoreParts& parts, RedisClient& client) {
  const auto servers = client.servers();
  if (!servers.ok()) return Status(servers.status()).with_context(parts.name());
  std::vector<RedisRequest> requests;
  for (const RedisAddress& server : *servers) {
    RedisRequest request;
    request.commands = command({"TIME"});
    request.server = server;
    request.fail_fast = true;
    requests.push_back(std::move(request));
  }
  const std::vector<RedisAnswer> answers = client.call_all(std::move(requests));
  const int64_t own_s = parts.network.clock().now_ms() / 1000;
  for (size_t i = 0; i < answers.size(); ++i) {
    const std::optional<int64_t> seconds = seconds_of(answers[i]);
    if (seconds) BLOOMRING_TRY(check_clock((*servers)[i], *seconds, own_s).with_context(parts.name()));
  }
  return {};
}

Result<bool> is_redis_store_made(const RedisStoreParts& parts, RedisClient& client) {
  auto stored = ask(parts, client, "GET", command({"GET", parts.keys.meta()}));
  if (!stored.ok()) return std::move(stored).status().with_context(parts.name());
  return !stored->is(RedisReply::Kind::kNil);
}

Status check_redis_description(const RedisStoreParts& parts, RedisClient& client, bool writes) {
  const StoreMeta configured = store_meta(parts.config.partition_count, parts.calendar(),
                                          parts.config.import_id);
  const std::string made = encode_store_meta(configured), key = parts.keys.meta();
  const auto check = [&]() -> Status {
    BLOOMRING_TRY_ASSIGN(const RedisReply stored, ask(parts, client, "GET", command({"GET", key})));
    if (!stored.is(RedisReply::Kind::kNil)) return check_store_meta(stored.bytes, configured);
    if (!writes) return retry("no filter store is there yet; the merge stage makes it");
    // Another process may make it at the same time.
    BLOOMRING_TRY_ASSIGN(const RedisReply set,
                         ask(parts, client, "EVAL", compare_and_set(key, "", "", {{key, std::string(), made}})));
    const auto found = other_state(set);
    return found ? check_store_meta(*found, configured) : Status();
  };
  return check().with_context(parts.name());
}

Result<std::optional<SumKey>> read_redis_slot_end_key(const RedisStoreParts& parts, RedisClient& client) {
  BLOOMRING_TRY_ASSIGN(const RedisReply stored,
                       ask(parts, client, "GET", command({"GET", parts.keys.slot_end_key()})));
  if (stored.is(RedisReply::Kind::kNil)) return std::optional<SumKey>();
  BLOOMRING_TRY_ASSIGN(const SumKey key, decode_slot_end_key(stored.bytes));
  return std::optional(key);
}

Status make_redis_slot_end_key(const RedisStoreParts& parts, RedisClient& client, const SumKey& key, bool replace) {
  const std::string name = parts.keys.slot_end_key();
  BLOOMRING_TRY_ASSIGN(const RedisReply stored, ask(parts, client, "GET", command({"GET", name})));
  const bool none = stored.is(RedisReply::Kind::kNil);
  if (!none && !replace && decode_slot_end_key(stored.bytes).ok()) return {};
  // Another process may make it at the same time: the first one's stays.
  const std::string old = none ? std::string() : stored.bytes;
  const std::string made = encode_slot_end_key(key);
  return ask(parts, client, "EVAL", compare_and_set(name, old, "", {{name, std::string(kAnyValue), made}})).status();
}

}  // namespace bloomring
