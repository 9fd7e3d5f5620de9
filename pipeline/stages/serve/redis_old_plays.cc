#include "pipeline/stages/serve/redis_old_plays.h"

#include <mutex>
#include <utility>

#include "base/hash.h"
#include "schemas/legacy/migrated_marks.h"
#include "serving/query/public_reason.h"
#include "state/legacy/legacy_request.h"

namespace bloomring {

// The sets of one user: ends with the last of them.
class RedisOldPlays::Read {
 public:
  Read(RedisOldPlays& owner, size_t sets, Ended ended) : owner_(owner), left_(sets), ended_(std::move(ended)) {}

  void take(const RedisAnswer& answer) {
    {
      const std::lock_guard lock(mutex_);
      take_set(answer);
      if (--left_ > 0) return;
    }
    --owner_.reads_;
    ended_(std::move(plays_));
  }

 private:
  void take_set(const RedisAnswer& answer) {
    if (!answer.ok()) return miss("old store " + public_reason(answer.status()));
    const RedisReply& reply = answer->front();
    if (reply.error() && redis_error(reply.bytes) == RedisError::kWrongType) return;  // No set, so no plays.
    if (!reply.is(RedisReply::Kind::kArray) || reply.elements.size() % 2 != 0)
      return miss("old store: a server refused to read a set");
    const size_t members = reply.elements.size() / 2, most = owner_.config_.members_max;
    if (members > most) miss("old store: a set has more members than the " + std::to_string(most) + " that are read");
    const int64_t now_ms = owner_.clock_.now_ms();
    for (size_t i = 0; i < std::min(members, most); ++i) {
      LegacyPlay play;
      const std::string &member = reply.elements[2 * i].bytes, &score = reply.elements[2 * i + 1].bytes;
      if (owner_.store_.layout.read_member(member, score, now_ms, play) != LegacyRefusal::kNone) continue;
      plays_.plays.push_back({item_hash(play.item), play.time_ms});
    }
  }
  void miss(std::string why) { plays_.missing = std::move(why); }

  RedisOldPlays& owner_;
  std::mutex mutex_;
  size_t left_;
  OldPlays plays_;
  const Ended ended_;
};

std::vector<OldSet> RedisOldPlays::sets_of(std::string_view user_key) const {
  const UserKey user = UserKey::from_bytes(user_key);
  std::vector<OldSet> sets;
  for (std::string& key : store_.layout.keys_of(user.scene(), user.user())) {
    std::vector<ItemHash> marks = migrated_marks(key, config_.false_positive_rate);
    sets.push_back({std::move(key), std::move(marks)});
  }
  return sets;
}

void RedisOldPlays::begin(std::vector<std::string> keys, int64_t since_ms, int64_t timeout_ms, Ended ended) {
  if (++reads_ > config_.reads_max) {
    --reads_;
    return ended({{}, "old store: too many users are read at once"});
  }
  const auto read = std::make_shared<Read>(*this, keys.size(), std::move(ended));  // Shared by the sets.
  for (const std::string& key : keys) {
    std::string command;
    append_redis_command(command, {"ZREVRANGEBYSCORE", key, "+inf", store_.layout.score_of(since_ms), "WITHSCORES",
                                   "LIMIT", "0", std::to_string(config_.members_max + 1)});
    RedisRequest request = legacy_request(key, std::move(command));
    request.fail_fast = true;
    request.timeout_ms = timeout_ms;
    request.end = [read](const RedisAnswer& answer) { read->take(answer); };
    if (!store_.client->begin(std::move(request))) read->take(retry("it has too many requests under way"));
  }
}

}  // namespace bloomring
