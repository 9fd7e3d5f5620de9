#include "state/store/redis/redis_writes.h"

#include <algorithm>
#include <utility>

#include "schemas/store_key.h"
#include "state/store/stored_union.h"

namespace bloomring {

namespace {

constexpr size_t kChunkKeysMax = 32;
constexpr uint64_t kChunkBytes = 1 << 20;
constexpr uint64_t kUnderWayBytes = 4 << 20;  // Of one partition.
constexpr size_t kChunksMax = 32;
constexpr int kTriesMax = 32;  // Of one value that others keep changing.
constexpr int64_t kWriteMs = 10'000;

}  // namespace

std::optional<Status> RedisOperation::take_end() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return std::nullopt;  // The client's thread unites.
  if (waits_for_pace_) go_on();
  return std::exchange(end_, std::nullopt);
}

void RedisOperation::cancel() {
  const std::lock_guard lock(mutex_);
  fail(retry("the writer was closed"));
}

void RedisOperation::send(RedisRequest request, std::function<void(RedisAnswer)> taken) {
  request.timeout_ms = kWriteMs;
  request.end = [self = shared_from_this(), taken = std::move(taken)](RedisAnswer answer) {
    const std::lock_guard lock(self->mutex_);
    --self->under_way_;
    if (!self->failed()) taken(std::move(answer));
    self->go_on();
  };
  ++under_way_;
  if (parts_.client.begin(std::move(request))) return;
  --under_way_;
  fail(retry("too many requests to the filter store are under way"));
}

void RedisOperation::fail(Status status) {
  if (!failure_) failure_ = std::move(status);
}

void RedisOperation::end() {
  if (!end_) end_ = failure_.value_or(Status());
}

RedisApply::RedisApply(RedisWriteParts parts, std::vector<RedisChange> first, std::vector<RedisChange> second)
    : RedisOperation(std::move(parts)), first_(std::move(first)), second_(std::move(second)) {}

void RedisApply::begin() {
  const std::lock_guard lock(mutex_);
  if (Status barred = parts_.store.bar.why(); !barred.ok()) fail(std::move(barred));
  fill(first_);
  go_on();
}

void RedisApply::fill(std::vector<RedisChange>& changes) {
  for (RedisChange& change : changes) waiting_[change.shard].push_back(&change);
}

// Empty when every shard that waits is busy.
RedisApply::Chunk RedisApply::next_chunk() {
  const auto from = std::ranges::find_if(waiting_, [&](const auto& one) { return !busy_.contains(one.first); });
  if (from == waiting_.end()) return {};
  const uint64_t usual = std::max<uint64_t>(1, parts_.store.value_bytes);
  const size_t most = std::clamp<uint64_t>(kChunkBytes / usual, 1, kChunkKeysMax);
  Chunk chunk;
  // The same key twice would conflict with itself.
  for (auto at = from->second.begin(); at != from->second.end() && chunk.size() < most;) {
    const bool twice = std::ranges::any_of(chunk, [&](const RedisChange* one) { return one->key == (*at)->key; });
    if (twice) {
      ++at;
      continue;
    }
    chunk.push_back(*at);
    at = from->second.erase(at);
  }
  if (from->second.empty()) waiting_.erase(from);
  return chunk;
}

void RedisApply::go_on() {
  const uint64_t usual = std::max<uint64_t>(1, parts_.store.value_bytes);
  const uint64_t chunk_bytes = usual * std::clamp<uint64_t>(kChunkBytes / usual, 1, kChunkKeysMax);
  const size_t most = std::clamp<uint64_t>(kUnderWayBytes / chunk_bytes, 1, kChunksMax);
  waits_for_pace_ = false;
  while (!failed() && under_way_ < most) {
    const Chunk chunk = next_chunk();
    if (chunk.empty()) break;
    const Place place = RedisPacePlace::begin(parts_.fence->share(), usual * chunk.size(), now_ns());
    if (place) {
      read(chunk, place);
      continue;
    }
    std::vector<RedisChange*>& waiting = waiting_[chunk.front()->shard];
    waiting.insert(waiting.end(), chunk.begin(), chunk.end());
    waits_for_pace_ = true;
    break;
  }
  if (!waits_for_pace_) parts_.fence->share().rest();
  if (under_way_ > 0) return;
  if (failed()) return end();
  if (!waiting_.empty()) return;
  if (std::exchange(second_begun_, true)) return end();
  fill(second_);
  go_on();
}

// A failure leaves the shard busy: nothing begins after it.
void RedisApply::send_to(ShardId shard, std::string commands, std::function<void(RedisAnswer)> taken) {
  ++busy_[shard];
  send(request_at(parts_.store.keys.shard_state(shard), std::move(commands)),
       [this, shard, taken = std::move(taken)](RedisAnswer answer) {
         if (--busy_.at(shard) == 0) busy_.erase(shard);
         taken(std::move(answer));
       });
}

int64_t RedisApply::now_ns() const { return parts_.store.steady_ns(); }

// The state comes with the values: a server that was replaced and does not know it yet may have what its successor has
// lost, and what need not be written is compared with nothing else.
void RedisApply::read(const Chunk& chunk, const Place& place) {
  RedisCommand command(2 + chunk.size());
  command.add("MGET").add(state_key_of(*chunk.front()));
  for (const RedisChange* change : chunk) command.add(change->key);
  send_to(chunk.front()->shard, std::move(command).take(),
          [this, chunk, place](RedisAnswer answer) { take_values(chunk, place, std::move(answer)); });
}

void RedisApply::take_values(const Chunk& chunk, const Place& place, RedisAnswer answer) {
  if (!answer.ok()) return fail(answer.status());
  RedisReply& reply = answer->front();
  if (reply.error()) return fail(redis_failure(reply, "MGET"));
  if (reply.elements.size() != 1 + chunk.size()) return fail(retry("the reply to MGET has another form"));
  const bool ours = reply.elements[0].bytes == parts_.fence->known(chunk.front()->shard);
  std::vector<RedisSet> sets;
  std::vector<size_t> first_sets;
  Chunk changed;
  for (size_t i = 0; i < chunk.size() && !failed(); ++i) {
    const size_t before = sets.size();
    add_sets(*chunk[i], reply.elements[1 + i], ours, sets);
    if (sets.size() == before) continue;
    first_sets.push_back(before);
    changed.push_back(chunk[i]);
  }
  uint64_t bytes = 0;
  for (const RedisSet& set : sets) bytes += set.key.size() + set.value.size();
  place->correct(bytes);
  if (failed() || changed.empty()) return place->end_untimed();
  write(changed, place, first_sets, sets);
}

// The set of the change comes first, then those that go with it. `ours`: the value lies under the writer's state.
void RedisApply::add_sets(RedisChange& change, RedisReply& stored, bool ours, std::vector<RedisSet>& sets) {
  const std::string& old = stored.bytes;  // Empty where there is none.
  const std::string expected = expected_of(stored);
  bool keep_old = false;
  std::string value;
  if (change.replace) {
    value = *change.replace;
    const bool replaced = change.read && *change.read != old;
    if (replaced && old != value)
      return fail(retry("another writer has changed " + describe_store_key(change.logical_key)));
    keep_old = !change.imported && !old.empty() && !is_damaged(old) && !decode_forgotten(old, change.logical_key).ok();
  } else {
    std::vector<std::string_view> values;
    if (!stored.is(RedisReply::Kind::kNil)) values.push_back(old);
    values.push_back(change.operand);
    StoredUnion united = unite_stored(values, change.logical_key, parts_.store.config.policy, change.closed);
    parts_.store.refused += united.refused;
    keep_old = united.refused > 0 && !old.empty() && !is_damaged(old);
    value = std::move(united.value);
    parts_.store.value_bytes = (parts_.store.value_bytes * 15 + value.size()) / 16;
  }
  const bool same = value == old && (value.empty() ? expected.empty() : true);
  if (same && ours && change.removed.empty()) {
    ++parts_.store.unchanged;
    return;
  }
  parts_.store.bytes_written += change.key.size() + value.size();
  sets.push_back({change.key, expected, std::move(value), change.expires_ms});
  for (const std::string& key : change.removed) sets.push_back({key, std::string(kAnyValue), ""});
  if (!keep_old) return;
  ++parts_.store.put_aside;
  const std::string name = expected.substr(0, kAsideNameBytes);
  sets.push_back({parts_.store.keys.aside(change.shard, name, change.logical_key), std::string(kAnyValue), old,
                  change.expires_ms});
}

void RedisApply::write(const Chunk& chunk, const Place& place, const std::vector<size_t>& first_sets,
                       const std::vector<RedisSet>& sets) {
  const ShardId shard = chunk.front()->shard;
  const std::string state_key = parts_.store.keys.shard_state(shard);
  send_to(shard, compare_and_set(state_key, parts_.fence->known(shard), parts_.fence->next(shard), sets),
          [this, chunk, place, first_sets, begun_ns = now_ns()](RedisAnswer answer) {
            place->end(begun_ns, now_ns(), answer.ok() && !answer->front().error());
            take_written(chunk, first_sets, std::move(answer));
          });
}

void RedisApply::take_written(const Chunk& chunk, const std::vector<size_t>& first_sets, RedisAnswer answer) {
  if (!answer.ok()) return fail(answer.status());
  const RedisReply& reply = answer->front();
  if (reply.error()) return fail(redis_failure(reply, "EVAL on " + state_key_of(*chunk.front())));
  if (const auto state = other_state(reply)) {
    Status known = parts_.fence->found(chunk.front()->shard, *state);
    if (!known.ok()) return fail(std::move(known));
    for (RedisChange* change : chunk) again(*change);
    return;
  }
  const auto is_written = [](const RedisReply& done) { return done.integer == 1; };
  if (std::any_of(reply.elements.begin() + 1, reply.elements.end(), is_written))
    parts_.fence->wrote(chunk.front()->shard, std::nullopt);
  for (size_t i = 0; i < chunk.size() && !failed(); ++i)
    take_written(*chunk[i], std::span(reply.elements).subspan(std::min(1 + first_sets[i], reply.elements.size())));
}

// `done`: of the change's own key, then of those that it removes.
void RedisApply::take_written(RedisChange& change, std::span<const RedisReply> done) {
  if (done.size() < 1 + change.removed.size()) return fail(retry("the reply to EVAL has another form"));
  for (size_t i = 0; i <= change.removed.size(); ++i) {
    if (done[i].integer >= 0) continue;
    ++parts_.store.conflicts;
    return move_aside(change, i == 0 ? change.key : change.removed[i - 1]);
  }
  if (done[0].integer == 1) return;
  ++parts_.store.conflicts;
  again(change);
}

void RedisApply::again(RedisChange& change) {
  if (++change.tries > kTriesMax)
    return fail(retry(describe_store_key(change.logical_key) + ": others keep changing it"));
  waiting_[change.shard].push_back(&change);
}

// The key holds a list, a hash or the like: of another program.
void RedisApply::move_aside(RedisChange& change, const std::string& key) {
  const auto logical = parts_.store.keys.logical(key);
  if (!logical.ok()) return fail(logical.status());
  // Redis has no sum of a list, so its name is random.
  const std::string name = sha1_hex(std::to_string(parts_.store.network.random_number())).substr(0, kAsideNameBytes);
  std::string commands;
  append_redis_command(commands, {"EVAL", kMoveAside, "3", state_key_of(change), key,
                                  parts_.store.keys.aside(change.shard, name, *logical),
                                  parts_.fence->known(change.shard)});
  send_to(change.shard, std::move(commands), [this, &change](RedisAnswer answer) {
    if (!answer.ok()) return fail(answer.status());
    const RedisReply& reply = answer->front();
    if (reply.error()) return fail(redis_failure(reply, "EVAL with RENAME on " + state_key_of(change)));
    if (reply.elements.size() == 2 && reply.elements[1].integer == 1) {
      ++parts_.store.put_aside;
      ++parts_.store.refused;
    }
    again(change);
  });
}

std::string RedisApply::state_key_of(const RedisChange& change) const {
  return parts_.store.keys.shard_state(change.shard);
}

RedisReadForgotten::RedisReadForgotten(RedisWriteParts parts, std::vector<User> users)
    : RedisOperation(std::move(parts)), users_(std::move(users)), forgotten_(users_.size()) {}

void RedisReadForgotten::begin() {
  const std::lock_guard lock(mutex_);
  std::map<ShardId, std::vector<size_t>> by_shard;
  for (size_t i = 0; i < users_.size(); ++i) by_shard[users_[i].shard].push_back(i);
  for (const auto& [shard, all] : by_shard) {
    for (size_t from = 0; from < all.size(); from += kChunkKeysMax) {
      const std::vector<size_t> chunk(all.begin() + static_cast<std::ptrdiff_t>(from),
                                      all.begin() + static_cast<std::ptrdiff_t>(
                                                        std::min(all.size(), from + kChunkKeysMax)));
      read(chunk);
    }
  }
  go_on();
}

// Everything is on its way from the beginning.
void RedisReadForgotten::go_on() {
  if (under_way_ == 0) end();
}

void RedisReadForgotten::read(const std::vector<size_t>& chunk) {
  RedisCommand command(1 + chunk.size());
  command.add("MGET");
  for (const size_t i : chunk) command.add(users_[i].key);
  send(request_at(users_[chunk.front()].key, std::move(command).take()),
       [this, chunk](RedisAnswer answer) { take_values(chunk, std::move(answer)); });
}

void RedisReadForgotten::take_values(const std::vector<size_t>& chunk, RedisAnswer answer) {
  if (!answer.ok()) return fail(answer.status());
  const RedisReply& reply = answer->front();
  if (reply.error()) return fail(redis_failure(reply, "MGET"));
  if (reply.elements.size() != chunk.size()) return fail(retry("the reply to MGET has another form"));
  for (size_t i = 0; i < chunk.size(); ++i) {
    const std::string& logical = users_[chunk[i]].logical_key;
    const RedisReply& value = reply.elements[i];
    bytes_[logical] = value.bytes;
    if (value.is(RedisReply::Kind::kNil)) continue;
    auto salvaged = salvage_forgotten(value.bytes, logical);
    if (!salvaged.ok()) return fail(salvaged.status());
    forgotten_[chunk[i]] = std::move(*salvaged);
  }
}

}  // namespace bloomring
