#include "state/legacy/legacy_lookup.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>

#include "state/legacy/legacy_request.h"

namespace bloomring {

namespace {

using Members = std::span<const std::string>;

// One command for each so many members.
RedisRequest many(std::string_view word, const std::string& key, const std::vector<std::string>& members) {
  RedisRequest request = legacy_request(key, {}, 0);
  for (size_t at = 0; at < members.size(); at += LegacyLookup::kMembersOfCommand) {
    const Members some = Members(members).subspan(at, std::min(LegacyLookup::kMembersOfCommand, members.size() - at));
    RedisCommand command(2 + some.size());
    command.add(word).add(key);
    for (const std::string& member : some) command.add(member);
    request.commands += std::move(command).take();
    ++request.replies;
  }
  return request;
}

RedisRequest one_each(const std::string& key, const std::vector<std::string>& members) {
  RedisRequest request = legacy_request(key, {}, static_cast<uint32_t>(members.size()));
  for (const std::string& member : members) append_redis_command(request.commands, {"ZSCORE", key, member});
  return request;
}

void add_size(RedisRequest& request, const std::string& key) {
  append_redis_command(request.commands, {"ZCARD", key});
  ++request.replies;
}

// The values for the members, whichever commands they came by. False for another number of them.
bool flatten(std::vector<RedisReply>& replies, size_t members, std::vector<RedisReply>& values) {
  values.clear();
  for (RedisReply& reply : replies) {
    if (!reply.is(RedisReply::Kind::kArray)) {
      values.push_back(std::move(reply));
      continue;
    }
    for (RedisReply& element : reply.elements) values.push_back(std::move(element));
  }
  return values.size() == members;
}

bool is_later(const std::string& score, const std::string& than) {
  return than.empty() || std::strtod(score.c_str(), nullptr) > std::strtod(than.c_str(), nullptr);
}

const RedisReply* first_error(const std::vector<RedisReply>& replies) {
  const auto error = std::ranges::find_if(replies, [](const RedisReply& reply) { return reply.error(); });
  return error == replies.end() ? nullptr : &*error;
}

}  // namespace

Result<std::vector<std::vector<RedisReply>>> LegacyLookup::ask(
    const std::vector<std::string>& keys, const std::function<RedisRequest(const std::string&)>& request_for) {
  std::vector<RedisRequest> requests;
  for (const std::string& key : keys) requests.push_back(request_for(key));
  std::vector<RedisAnswer> answers = client_.call_all(std::move(requests));
  std::vector<std::vector<RedisReply>> replies;
  for (RedisAnswer& answer : answers) {
    BLOOMRING_TRY(answer.status());
    replies.push_back(std::move(*answer));
  }
  return replies;
}

Status LegacyLookup::failure(const RedisReply& error, const std::string& what) const {
  return redis_failure(error, what, client_.config().names);
}

Result<LegacySetAnswer> LegacyLookup::in_sets(const std::vector<std::string>& keys,
                                              const std::vector<std::string>& members, bool sizes) {
  LegacySetAnswer found;
  found.scores.resize(members.size());
  if (members.empty()) return found;
  const auto request_for = [&](const std::string& key) {
    RedisRequest request = one_by_one_ ? one_each(key, members) : many("ZMSCORE", key, members);
    if (sizes) add_size(request, key);
    return request;
  };
  BLOOMRING_TRY_ASSIGN(auto answers, ask(keys, request_for));
  std::vector<RedisReply> values;
  for (size_t k = 0; k < keys.size(); ++k) {
    if (const RedisReply* error = first_error(answers[k])) {
      if (one_by_one_ || redis_error(error->bytes) != RedisError::kUnknownCommand)
        return failure(*error, (one_by_one_ ? "ZSCORE " : "ZMSCORE ") + keys[k]);
      one_by_one_ = true;
      return in_sets(keys, members, sizes);
    }
    if (sizes) {
      found.largest = std::max(found.largest, static_cast<uint64_t>(answers[k].back().integer));
      answers[k].pop_back();
    }
    if (!flatten(answers[k], members.size(), values))
      return retry("the old store gave another number of scores for " + keys[k]);
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].is(RedisReply::Kind::kBytes) && is_later(values[i].bytes, found.scores[i]))
        found.scores[i] = std::move(values[i].bytes);
    }
  }
  return found;
}

Result<std::vector<bool>> LegacyLookup::in_filters(const std::vector<std::string>& keys,
                                                   const std::vector<std::string>& members) {
  std::vector<bool> found(members.size());
  if (members.empty()) return found;
  const auto request_for = [&](const std::string& key) { return many("BF.MEXISTS", key, members); };
  BLOOMRING_TRY_ASSIGN(auto answers, ask(keys, request_for));
  std::vector<RedisReply> values;
  for (size_t k = 0; k < keys.size(); ++k) {
    if (const RedisReply* error = first_error(answers[k])) {
      if (error->bytes.find("not found") != std::string::npos) continue;  // Versions before 2.4, for a missing key.
      if (redis_error(error->bytes) == RedisError::kUnknownCommand)
        return invalid("the old store does not know BF.MEXISTS: its servers have no module RedisBloom");
      return failure(*error, "BF.MEXISTS " + keys[k]);
    }
    if (!flatten(answers[k], members.size(), values))
      return retry("the old store gave another number of answers for " + keys[k]);
    for (size_t i = 0; i < values.size(); ++i) found[i] = found[i] || values[i].integer == 1;
  }
  return found;
}

}  // namespace bloomring
