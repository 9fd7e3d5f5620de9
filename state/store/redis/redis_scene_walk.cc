#include "state/store/redis/redis_scene_walk.h"

#include <utility>

#include "schemas/store_key.h"
#include "state/store/redis/redis_admin.h"

namespace bloomring {

namespace {
constexpr std::string_view kKeysOfStep = "200";
}

void note_scene(const RedisKeys& keys, std::string_view key, std::set<std::string>& scenes) {
  const auto logical = keys.logical(key);
  if (!logical.ok() || logical->empty()) return;
  std::string_view user_key;
  if (const auto filter = parse_filter_key(*logical); filter.ok()) {
    user_key = filter->user_key;
  } else if (const auto forgotten = parse_forgotten_key(*logical); forgotten.ok()) {
    user_key = *forgotten;
  }
  if (!user_key.empty()) scenes.emplace(UserKey::from_bytes(user_key).scene());
}

void RedisSceneWalk::begin(const RedisStoreParts& parts, RedisClient& client, FilterReader::TakeScenes ended) {
  // Shared with the request under way.
  const std::shared_ptr<RedisSceneWalk> walk(new RedisSceneWalk(parts, client, std::move(ended)));
  client.begin_primaries([walk](Result<std::vector<RedisAddress>> primaries) {
    if (!primaries.ok()) return walk->ended_(std::move(primaries).status());
    walk->left_ = std::move(*primaries);
    walk->go_on();
  });
}

void RedisSceneWalk::go_on() {
  if (left_.empty()) return ended_(std::move(found_));
  RedisRequest request = scan_request(parts_, left_.back(), cursor_, kKeysOfStep);
  request.end = [walk = shared_from_this()](RedisAnswer answer) { walk->take(std::move(answer)); };
  if (!client_.begin(std::move(request))) ended_(retry("too many requests to the filter store are under way"));
}

void RedisSceneWalk::take(RedisAnswer answer) {
  const auto keys = keys_of_scan(std::move(answer), left_.back(), cursor_);
  if (!keys.ok()) return ended_(keys.status());
  for (const std::string& key : *keys) note_scene(parts_.keys, key, found_);
  if (cursor_ == "0") left_.pop_back();
  go_on();
}

}  // namespace bloomring
