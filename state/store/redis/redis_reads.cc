#include "state/store/redis/redis_reads.h"

#include <algorithm>
#include <utility>

#include "base/faults/fault_point.h"
#include "schemas/damaged_value.h"
#include "schemas/store_key.h"
#include "schemas/store/shard_standing.h"

namespace bloomring {

namespace {

// A filter that is written between MGET and EXISTS looks like a key that holds no string.
constexpr int kAttemptsMax = 4;

}  // namespace

// One user's values, and how many of their keys the primary has: alone, or between two looks at the shard's state.
// Shared by the two requests.
struct RedisReads::Asked {
  RedisAnswer values = retry("not answered");
  RedisAnswer present = retry("not answered");
  std::atomic<int> left = 2;
  bool behind = false;
  bool lacking = false;  // The primary has a key of which no value came, or may have one.
};

// A read while its users' answers come in.
class RedisReads::Pending {
 public:
  Pending(std::shared_ptr<FilterRead> read, int64_t now_ms)
      : read_(std::move(read)), now_ms_(now_ms), found_(read_->users().size()), left_(found_.size()) {}

  const UserPeriods& user(size_t index) const { return read_->users()[index]; }
  size_t users() const { return found_.size(); }
  int64_t now_ms() const { return now_ms_; }
  bool wanted() const { return read_->wanted(); }
  void refuse() { read_->refuse(); }

  void end_user(size_t index, Result<StoredUser> user) {
    found_[index] = std::move(user);
    if (--left_ > 0) return;
    std::vector<Result<StoredUser>> users;
    for (std::optional<Result<StoredUser>>& one : found_) users.push_back(std::move(*one));
    read_->end(std::move(users));
  }

  std::vector<std::vector<StoredFilter>> wanted_filters;      // By user: what the question asks for.
  std::vector<std::optional<MergedWatermark>> heard;          // By user, what was promised when the read began.
  std::vector<Status> unheard;

 private:
  const std::shared_ptr<FilterRead> read_;
  const int64_t now_ms_;
  std::vector<std::optional<Result<StoredUser>>> found_;
  std::atomic<size_t> left_;
};

void RedisReads::begin(std::shared_ptr<FilterRead> read) {
  if (read->users().empty()) return read->end({});
  const auto pending = std::make_shared<Pending>(std::move(read), parts_.clock.now_ms());  // Of all its requests.
  pending->wanted_filters.resize(pending->users());
  pending->heard.resize(pending->users());
  pending->unheard.resize(pending->users());
  const PeriodUnit unit = parts_.calendar().config().unit;
  for (size_t i = 0; i < pending->users(); ++i) {
    const UserPeriods& user = pending->user(i);
    auto heard = parts_.heard.promised(parts_.partition_of(user.user.shard()));
    if (heard.ok())
      pending->heard[i] = std::move(*heard);
    else
      pending->unheard[i] = heard.status();
    for (const PeriodIndex period : user.periods) {
      if (!period_has_key(period) || !parts_.calendar().kept(user.user.hash, period, pending->now_ms())) continue;
      pending->wanted_filters[i].push_back({period, filter_key(user.user, unit, period), {}});
    }
  }
  for (size_t i = 0; i < pending->users(); ++i) begin_user(pending, i, {parts_.config.read_replicas, 0});
}

void RedisReads::begin_user(const std::shared_ptr<Pending>& pending, size_t index, Attempt attempt) {
  Status injected = injected_failure("store.read");
  if (injected.ok()) injected = pending->unheard[index];
  if (!injected.ok()) return pending->end_user(index, injected);
  const UserRef user = pending->user(index).user;
  const PeriodUnit unit = parts_.calendar().config().unit;
  const std::vector<StoredFilter>& filters = pending->wanted_filters[index];
  const std::string state_key = parts_.keys.shard_state(user.shard());
  RedisCommand values(3 + filters.size()), present(2 + filters.size());
  values.add("MGET").add(state_key).add(parts_.keys.forgotten(user));
  present.add("EXISTS").add(parts_.keys.forgotten(user));
  for (const StoredFilter& filter : filters) {
    const std::string key = parts_.keys.filter(user, unit, filter.period);
    values.add(key);
    present.add(key);
  }
  const auto asked = std::make_shared<Asked>();
  RedisClient& client_of_both = client();  // So they share a connection and its round trip.
  const auto ask = [&](std::string commands, uint32_t replies, bool to_replica, RedisAnswer Asked::*part) {
    const auto end = [this, pending, index, attempt, asked, part](RedisAnswer answer) {
      (*asked).*part = std::move(answer);
      if (--asked->left == 0) take_user(pending, index, attempt, *asked);
    };
    RedisRequest request = request_at(state_key, std::move(commands));
    request.replies = replies;
    request.to_replica = to_replica;
    request.fail_fast = true;
    request.end = end;
    if (client_of_both.begin(std::move(request))) return;
    end(retry("the filter store is being closed, or too many reads are under way"));
  };
  ask(std::move(values).take(), 1, attempt.replica, &Asked::values);
  if (!attempt.replica) return ask(std::move(present).take(), 1, false, &Asked::present);
  std::string state;
  append_redis_command(state, {"GET", state_key});
  ask(state + std::move(present).take() + state, 3, false, &Asked::present);
}

void RedisReads::take_user(const std::shared_ptr<Pending>& pending, size_t index, Attempt attempt, Asked& asked) {
  auto user = take_values(*pending, index, asked);
  const bool elsewhere = attempt.replica && !user.ok() && user.code() == Code::kRetry;
  const bool again = elsewhere || (asked.lacking && attempt.number + 1 < kAttemptsMax);
  if (again && pending->wanted()) return begin_user(pending, index, {false, attempt.number + 1});
  if (asked.behind && !attempt.replica) doubt(pending->user(index).user.shard());
  pending->end_user(index, std::move(user));
}

Result<StoredUser> RedisReads::take_values(Pending& pending, size_t index, Asked& asked) {
  BLOOMRING_TRY(asked.values.status());
  RedisReply& reply = asked.values->front();
  if (reply.error()) return redis_failure(reply, "MGET");
  std::vector<StoredFilter>& filters = pending.wanted_filters[index];
  if (reply.elements.size() != 2 + filters.size()) return retry("the reply to MGET has another form");
  const UserRef user = pending.user(index).user;
  const ShardId shard = user.shard();
  BLOOMRING_TRY_ASSIGN(const std::optional<ShardState> state, parts_.decode(reply.elements[0].bytes, shard));
  if (!covers_all(state ? state->mark : std::nullopt, pending.heard[index])) {
    asked.behind = true;
    ++parts_.behind;
    return retry("shard " + std::to_string(shard.value) +
                 " of the filter store is behind its watermark: a server has lost writes, or is cut off");
  }
  const auto found = std::count_if(reply.elements.begin() + 1, reply.elements.end(),
                                   [](const RedisReply& value) { return !value.is(RedisReply::Kind::kNil); });
  if (static_cast<size_t>(found) < 1 + filters.size()) {
    BLOOMRING_TRY_ASSIGN(asked.lacking, lacks(asked, found));
    if (asked.lacking) {
      return corrupt(describe_store_key(forgotten_key(user)) + " or a filter of the same user is no string: another "
                     "program has written under our key; `bloomring store check` names it");
    }
  }
  StoredUser stored;
  if (!reply.elements[1].is(RedisReply::Kind::kNil)) {
    BLOOMRING_TRY_ASSIGN(stored.forgotten, decode_forgotten(reply.elements[1].bytes, forgotten_key(user)));
  }
  for (size_t i = 0; i < filters.size(); ++i) {
    RedisReply& value = reply.elements[2 + i];
    if (value.is(RedisReply::Kind::kNil)) continue;
    filters[i].value = std::move(value.bytes);
    BLOOMRING_TRY(check_stored(filters[i].value, filters[i].store_key));
    stored.filters.push_back(std::move(filters[i]));
  }
  return stored;
}

Result<bool> RedisReads::lacks(const Asked& asked, int64_t values) {
  BLOOMRING_TRY(asked.present.status());
  const std::vector<RedisReply>& replies = *asked.present;
  for (const RedisReply& reply : replies)
    if (reply.error()) return redis_failure(reply, "EXISTS");
  if (replies.size() == 1) return replies[0].integer > values;
  const std::string& state = asked.values->front().elements[0].bytes;
  return replies[0].bytes != state || replies[2].bytes != state || replies[1].integer > values;
}

Result<RedisReply> RedisReads::ask_for(const std::string& key) {
  return only_reply(client().call(get_request(key)), "GET " + key);
}

Result<std::optional<MergedWatermark>> RedisReads::watermark(PartitionId partition) {
  std::vector<RedisRequest> requests;
  const std::vector<ShardId> shards = parts_.shards_of(partition);
  // The watermark first: marks that are read after it are as new or newer.
  BLOOMRING_TRY_ASSIGN(const RedisReply first, ask_for(parts_.keys.watermark(partition)));
  BLOOMRING_TRY_ASSIGN(std::optional<MergedWatermark> found, parts_.decode_mark(first, partition));
  if (!found) return found;
  for (const ShardId shard : shards) requests.push_back(get_request(parts_.keys.shard_state(shard)));
  std::vector<RedisAnswer> answers = client().call_all(std::move(requests));
  for (size_t i = 0; i < shards.size(); ++i) {
    BLOOMRING_TRY_ASSIGN(const RedisReply reply,
                         only_reply(std::move(answers[i]), "GET " + parts_.keys.shard_state(shards[i])));
    BLOOMRING_TRY_ASSIGN(const std::optional<ShardState> state, parts_.decode(reply.bytes, shards[i]));
    if (parts_.taken.is_older(partition, state))
      return retry("shard " + std::to_string(shards[i].value) + " of the filter store has an earlier writer "
                   "than this process: a server has lost writes, or is cut off");
    found = least(found, state ? state->mark : std::nullopt);
  }
  parts_.heard.promise(partition, found);
  return found;
}

Status RedisReads::hear_watermarks() {
  const uint64_t turn = parts_.heard.begin_hearing();
  std::vector<RedisRequest> requests;
  for (uint32_t p = 0; p < parts_.config.partition_count; ++p)
    requests.push_back(get_request(parts_.keys.watermark(PartitionId(static_cast<int32_t>(p)))));
  std::vector<RedisAnswer> answers = client().call_all(std::move(requests));
  HeardWatermarks::All all;
  Status away;
  for (uint32_t p = 0; p < parts_.config.partition_count; ++p) {
    auto heard = take_heard(std::move(answers[p]), PartitionId(static_cast<int32_t>(p)));
    if (away.ok() && !heard.ok() && heard.code() != Code::kCorrupt) away = heard.status();
    all.push_back(std::move(heard));
  }
  parts_.heard.hear(turn, std::move(all));
  return away;
}

Result<std::optional<MergedWatermark>> RedisReads::take_heard(RedisAnswer answer, PartitionId partition) {
  BLOOMRING_TRY_ASSIGN(const RedisReply reply,
                       only_reply(std::move(answer), "GET " + parts_.keys.watermark(partition)));
  BLOOMRING_TRY_ASSIGN(auto watermark, parts_.decode_mark(reply, partition));
  if (watermark) parts_.clock.raise_merged_ms(watermark->merged_ms);
  return watermark;
}

void RedisReads::doubt(ShardId shard) {
  const std::lock_guard lock(mutex_);
  doubts_.try_emplace(shard, parts_.steady_ns() / 1'000'000);
}

Status RedisReads::settle_doubts() {
  std::map<ShardId, int64_t> doubts;
  {
    const std::lock_guard lock(mutex_);
    doubts = doubts_;
  }
  Status first_failure;
  for (const auto& [shard, since_ms] : doubts) {
    Status settled = settle_doubt(shard, since_ms);
    if (first_failure.ok()) first_failure = std::move(settled);
  }
  return first_failure;
}

Status RedisReads::settle_doubt(ShardId shard, int64_t since_ms) {
  const PartitionId partition = parts_.partition_of(shard);
  BLOOMRING_TRY_ASSIGN(const std::optional<MergedWatermark> heard, parts_.heard.of(partition));
  BLOOMRING_TRY_ASSIGN(const RedisReply reply, ask_for(parts_.keys.shard_state(shard)));
  BLOOMRING_TRY_ASSIGN(const std::optional<ShardState> state, parts_.decode(reply.bytes, shard));
  const std::optional<MergedWatermark> mark = state ? state->mark : std::nullopt;
  const bool covered = covers_all(mark, heard);
  const bool long_enough = parts_.steady_ns() / 1'000'000 - since_ms >= kDoubtMs;
  if (!covered && !long_enough) return {};
  if (!covered) parts_.heard.lower(partition, mark);
  const std::lock_guard lock(mutex_);
  doubts_.erase(shard);
  return {};
}

}  // namespace bloomring
