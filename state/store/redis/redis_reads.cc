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

// One user's values, and how many of their keys the primary has: alone, or between two looks at the shard's state. Of
// a replica that is asked alone, all of it comes with the values. Shared by the requests.
struct RedisReads::Asked {
  RedisAnswer values = retry("not answered");
  RedisAnswer present = retry("not answered");
  std::atomic<int> left = 2;
  bool behind = false;
  bool lacking = false;  // A server has a key of which no value came, or may have one.
};

// A read while its users' answers come in.
class RedisReads::Pending {
 public:
  Pending(std::shared_ptr<FilterRead> read, int64_t now_ms)
      : read_(std::move(read)),
        now_ms_(now_ms),
        found_(read_->users().size()),
        questions_(found_.size()),
        left_(found_.size()) {
    for (const UserPeriods& user : read_->users()) keys_.emplace_back(user.user.key);
    for (size_t i = 0; i < keys_.size(); ++i) users_.emplace_back(keys_[i], read_->users()[i].user.hash);
  }

  const UserRef& user(size_t index) const { return users_[index]; }
  // While the read has not ended.
  const UserPeriods& question(size_t index) const { return read_->users()[index]; }
  size_t users() const { return found_.size(); }
  int64_t now_ms() const { return now_ms_; }
  bool wanted() const { return read_->wanted(); }
  void refuse() { read_->refuse(); }

  // Begins a question of the user; false when the user has ended.
  bool begin_question(size_t index, bool to_replica) {
    const std::lock_guard lock(mutex_);
    Questions& questions = questions_[index];
    if (questions.ended) return false;
    ++questions.under_way;
    (to_replica ? questions.replica_asked : questions.primary_asked) = true;
    return true;
  }
  // True once, and only while a question is under way.
  bool may_hedge(size_t index) {
    const std::lock_guard lock(mutex_);
    Questions& questions = questions_[index];
    return !questions.ended && questions.under_way > 0 && !std::exchange(questions.hedged, true);
  }
  // A question has ended. True when the user's end is up to it: it is sound, and the first one, or it is the last one.
  bool end_question(size_t index, bool sound) {
    const std::lock_guard lock(mutex_);
    Questions& questions = questions_[index];
    --questions.under_way;
    if (questions.ended || (!sound && questions.under_way > 0)) return false;
    questions.ended = sound;
    return true;
  }
  bool was_asked(size_t index, bool replica) const {
    const std::lock_guard lock(mutex_);
    return replica ? questions_[index].replica_asked : questions_[index].primary_asked;
  }

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
  struct Questions {
    int under_way = 0;
    bool ended = false;
    bool hedged = false;
    bool primary_asked = false, replica_asked = false;
  };
  const std::shared_ptr<FilterRead> read_;
  const int64_t now_ms_;
  std::vector<std::string> keys_;  // Of users_: a question may outlive the read that began it.
  std::vector<UserRef> users_;
  std::vector<std::optional<Result<StoredUser>>> found_;
  mutable std::mutex mutex_;
  std::vector<Questions> questions_;
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
    const UserPeriods& user = pending->question(i);
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
  for (size_t i = 0; i < pending->users(); ++i) {
    if (hedges()) parts_.hedges.note_read();
    begin_user(pending, i, {.replica = parts_.config.read_replicas, .client = turn_++});
  }
}

void RedisReads::begin_user(const std::shared_ptr<Pending>& pending, size_t index, Attempt attempt) {
  Status injected = injected_failure("store.read");
  if (injected.ok()) injected = pending->unheard[index];
  if (!pending->begin_question(index, attempt.replica)) return;
  if (injected.ok()) return ask(pending, index, attempt);
  if (pending->end_question(index, false)) pending->end_user(index, injected);
}

void RedisReads::ask(const std::shared_ptr<Pending>& pending, size_t index, Attempt attempt) {
  const UserRef user = pending->user(index);
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
  RedisClient& client_of_both = client_of(attempt);  // So they share a connection and its round trip.
  const auto send = [&](std::string commands, uint32_t replies, bool to_replica, RedisAnswer Asked::*part) {
    const auto end = [this, pending, index, attempt, asked, part](RedisAnswer answer) {
      (*asked).*part = std::move(answer);
      if (--asked->left == 0) take_answer(pending, index, attempt, *asked);
    };
    RedisRequest request = request_at(state_key, std::move(commands));
    request.replies = replies;
    request.to_replica = to_replica;
    request.fail_fast = true;
    request.end = end;
    if (hedges() && attempt.number == 0 && !attempt.hedge) {
      request.late_ms = parts_.config.hedge_after_ms;
      request.late = [this, pending, index, attempt, asked] {
        hedge(pending, index, attempt, attempt.replica && asked->values.ok());
      };
    }
    if (client_of_both.begin(std::move(request))) return;
    end(retry("the filter store is being closed, or too many reads are under way"));
  };
  std::string state;
  append_redis_command(state, {"GET", state_key});
  if (attempt.alone) {
    asked->left = 1;
    return send(std::move(values).take() + std::move(present).take() + state, 3, true, &Asked::values);
  }
  send(std::move(values).take(), 1, attempt.replica, &Asked::values);
  if (!attempt.replica) return send(std::move(present).take(), 1, false, &Asked::present);
  send(state + std::move(present).take() + state, 3, false, &Asked::present);
}

void RedisReads::hedge(const std::shared_ptr<Pending>& pending, size_t index, Attempt first, bool replica_answered) {
  const bool may_move = client_of(first).slots_may_move();
  Attempt second{.replica = !first.replica, .client = first.client + 1, .hedge = true};
  if (!may_move && replica_answered) second.replica = true;
  second.alone = second.replica && !may_move;
  if (!pending->wanted() || !pending->may_hedge(index) || !parts_.hedges.take()) return;
  begin_user(pending, index, second);
}

void RedisReads::take_answer(const std::shared_ptr<Pending>& pending, size_t index, Attempt attempt, Asked& asked) {
  auto user = take_values(*pending, index, attempt, asked);
  if (asked.behind) note_behind(pending->user(index).shard(), attempt);
  if (!pending->end_question(index, user.ok())) return;
  if (user.ok() && attempt.hedge) parts_.hedges.note_first();
  if (!user.ok() && pending->wanted()) {
    if (const auto next = next_attempt(*pending, index, attempt, asked, user.status()))
      return begin_user(pending, index, *next);
  }
  pending->end_user(index, std::move(user));
}

std::optional<RedisReads::Attempt> RedisReads::next_attempt(const Pending& pending, size_t index, Attempt failed,
                                                            const Asked& asked, const Status& failure) {
  const Attempt primary{.replica = false, .client = turn_++, .number = failed.number + 1};
  if (asked.lacking && failed.number + 1 < kAttemptsMax) return primary;
  if (failure.code() != Code::kRetry) return std::nullopt;
  if (failed.replica && !pending.was_asked(index, /*replica=*/false)) return primary;
  if (!hedges() || failed.replica || asked.behind || pending.was_asked(index, /*replica=*/true)) return std::nullopt;
  Attempt replica = primary;
  replica.replica = true;
  replica.alone = !client_of(failed).slots_may_move();
  return replica;
}

void RedisReads::note_behind(ShardId shard, Attempt attempt) {
  if (attempt.replica && !parts_.config.read_replicas) return parts_.hedges.note_behind();
  ++parts_.behind;
  if (!attempt.replica) doubt(shard);
}

Result<StoredUser> RedisReads::take_values(const Pending& pending, size_t index, Attempt attempt, Asked& asked) {
  BLOOMRING_TRY(asked.values.status());
  RedisReply& reply = asked.values->front();
  if (reply.error()) return redis_failure(reply, "MGET");
  const std::vector<StoredFilter>& filters = pending.wanted_filters[index];
  if (reply.elements.size() != 2 + filters.size()) return retry("the reply to MGET has another form");
  const UserRef user = pending.user(index);
  const ShardId shard = user.shard();
  BLOOMRING_TRY_ASSIGN(const std::optional<ShardState> state, parts_.decode(reply.elements[0].bytes, shard));
  if (!covers_all(state ? state->mark : std::nullopt, pending.heard[index])) {
    asked.behind = true;
    return retry("shard " + std::to_string(shard.value) +
                 " of the filter store is behind its watermark: a server has lost writes, or is cut off");
  }
  const auto found = std::count_if(reply.elements.begin() + 1, reply.elements.end(),
                                   [](const RedisReply& value) { return !value.is(RedisReply::Kind::kNil); });
  if (static_cast<size_t>(found) < 1 + filters.size()) {
    BLOOMRING_TRY_ASSIGN(asked.lacking, lacks(asked, attempt, found));
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
    BLOOMRING_TRY(check_stored(value.bytes, filters[i].store_key));
    stored.filters.push_back({filters[i].period, filters[i].store_key, std::move(value.bytes)});
  }
  return stored;
}

Result<bool> RedisReads::lacks(const Asked& asked, Attempt attempt, int64_t values) {
  const RedisAnswer& answer = attempt.alone ? asked.values : asked.present;
  BLOOMRING_TRY(answer.status());
  const std::vector<RedisReply>& replies = *answer;
  for (const RedisReply& reply : replies)
    if (reply.error()) return redis_failure(reply, "EXISTS");
  if (replies.size() == 1) return replies[0].integer > values;
  const std::string& state = asked.values->front().elements[0].bytes;
  // The first reply of a replica that is asked alone is the values, with their state.
  return (!attempt.alone && replies[0].bytes != state) || replies[2].bytes != state || replies[1].integer > values;
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
