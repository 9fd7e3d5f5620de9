#include "state/legacy/legacy_changes.h"

#include <algorithm>
#include <utility>

#include "state/legacy/legacy_request.h"

namespace bloomring {

namespace {

// The score is compared and the member removed in one step: another writer of the set may add a later play in between.
constexpr std::string_view kForgetScript =
    "local score = redis.pcall('ZSCORE', KEYS[1], ARGV[1]) "
    "if type(score) == 'table' then return score end "
    "if score and tonumber(score) < tonumber(ARGV[2]) then return redis.call('ZREM', KEYS[1], ARGV[1]) end "
    "return 0";

bool is_wrong_type(const RedisReply& reply) {
  return reply.error() && redis_error(reply.bytes) == RedisError::kWrongType;
}

}  // namespace

void LegacyChanges::play(const std::string& key, std::string_view member, std::string_view score) {
  gathered_[key].push_back({Kind::kPlay, std::string(member), std::string(score)});
}

void LegacyChanges::forget(const std::string& key, std::string_view member, std::string_view bound) {
  gathered_[key].push_back({Kind::kForget, std::string(member), std::string(bound)});
}

void LegacyChanges::forget_all(const std::string& key, std::string_view bound) {
  gathered_[key].push_back({Kind::kForgetAll, {}, std::string(bound)});
}

// Plays that follow each other are one command.
RedisRequest LegacyChanges::request_of(const std::string& key, const Changes& changes) {
  std::string commands;
  uint32_t replies = 0;
  const auto is_no_play = [](const Change& change) { return change.kind != Kind::kPlay; };
  for (auto at = changes.begin(); at != changes.end(); ++replies) {
    if (at->kind == Kind::kPlay) {
      const auto end = std::find_if(at, changes.end(), is_no_play);
      RedisCommand command(3 + 2 * static_cast<size_t>(end - at));
      command.add("ZADD").add(key).add("GT");
      for (; at != end; ++at) command.add(at->score).add(at->member);
      commands += std::move(command).take();
    } else if (at->kind == Kind::kForget) {
      append_redis_command(commands, {"EVAL", kForgetScript, "1", key, at->member, at->score});
      ++at;
    } else {
      append_redis_command(commands, {"ZREMRANGEBYSCORE", key, "-inf", "(" + at->score});
      ++at;
    }
  }
  return legacy_request(key, std::move(commands), replies);
}

// Keys without a sorted set, and sets that got plays.
Status LegacyChanges::write_changes(std::vector<std::string>& foreign, std::vector<std::string>& grown) {
  std::vector<RedisRequest> requests;
  std::vector<std::string> keys;
  for (const auto& [key, changes] : gathered_) {
    keys.push_back(key);
    requests.push_back(request_of(key, changes));
  }
  const std::vector<RedisAnswer> answers = client_.call_all(std::move(requests));
  for (size_t i = 0; i < answers.size(); ++i) {
    BLOOMRING_TRY(answers[i].status());
    if (std::ranges::any_of(*answers[i], is_wrong_type)) {
      foreign.push_back(keys[i]);
      continue;
    }
    for (const RedisReply& reply : *answers[i])
      if (reply.error()) return redis_failure(reply, "writing " + keys[i], client_.config().names);
    const auto is_play = [](const Change& change) { return change.kind == Kind::kPlay; };
    if (std::ranges::any_of(gathered_.at(keys[i]), is_play)) grown.push_back(keys[i]);
  }
  return {};
}

std::string LegacyChanges::bounds_of(const std::string& key, uint32_t& commands) const {
  std::string text;
  if (bounds_.members_max > 0) {
    const std::string last = std::to_string(-static_cast<int64_t>(bounds_.members_max) - 1);
    append_redis_command(text, {"ZREMRANGEBYRANK", key, "0", last});
    ++commands;
  }
  if (bounds_.ttl_seconds > 0) {
    append_redis_command(text, {"EXPIRE", key, std::to_string(bounds_.ttl_seconds)});
    ++commands;
  }
  return text;
}

Status LegacyChanges::keep_bounds(const std::vector<std::string>& keys) {
  if (bounds_.members_max == 0 && bounds_.ttl_seconds == 0) return {};
  std::vector<RedisRequest> requests;
  for (const std::string& key : keys) {
    uint32_t commands = 0;
    std::string text = bounds_of(key, commands);
    requests.push_back(legacy_request(key, std::move(text), commands));
  }
  for (const RedisAnswer& answer : client_.call_all(std::move(requests))) {
    BLOOMRING_TRY(answer.status());
    for (const RedisReply& reply : *answer)
      if (reply.error()) return redis_failure(reply, "cutting a set", client_.config().names);
  }
  return {};
}

Status LegacyChanges::write(const Refused& refused) {
  std::vector<std::string> foreign, grown;
  BLOOMRING_TRY(write_changes(foreign, grown));
  BLOOMRING_TRY(keep_bounds(grown));
  for (const std::string& key : foreign) refused(key, gathered_.at(key).size());
  gathered_.clear();
  return {};
}

}  // namespace bloomring
