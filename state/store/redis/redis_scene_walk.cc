#include "state/store/redis/redis_scene_walk.h"

#include <utility>

#include "schemas/store_key.h"
#include "state/redis/redis_own_slots.h"

namespace bloomring {

namespace {
constexpr std::string_view kKeysOfStep = "200";
constexpr int kWalksMax = 2;
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
  walk->look_at_slots();
}

void RedisSceneWalk::look_at_slots() {
  client_.begin_primaries([walk = shared_from_this()](Result<std::vector<RedisAddress>> primaries) {
    if (!primaries.ok()) return walk->ended_(std::move(primaries).status());
    walk->servers_ = std::move(*primaries);
    walk->slots_ = joined_addresses(walk->servers_);
    walk->ask_slots(0);
  });
}

// A server that is alone has all keys.
void RedisSceneWalk::ask_slots(size_t index) {
  if (index == servers_.size() || servers_.size() == 1) return judge_slots();
  RedisRequest request = own_slots_request(servers_[index]);
  request.end = [walk = shared_from_this(), index](const RedisAnswer& answer) { walk->take_slots(index, answer); };
  ask(std::move(request));
}

void RedisSceneWalk::take_slots(size_t index, const RedisAnswer& answer) {
  if (!answer.ok()) return ended_(answer.status());
  const std::optional<RedisOwnSlots> own = parse_own_slots(answer->front());
  if (!own || own->under_way) slots_.reset();
  if (slots_) *slots_ += servers_[index].text() + " " + own->text + ";";
  ask_slots(index + 1);
}

void RedisSceneWalk::judge_slots() {
  const bool stayed = slots_ && slots_ == slots_before_;
  if (walks_ == kWalksMax || (walks_ > 0 && stayed)) return ended_(std::move(found_));
  slots_before_ = slots_;
  ++walks_;
  walked_ = 0;
  scan_.reset();
  go_on();
}

void RedisSceneWalk::go_on() {
  if (walked_ == servers_.size()) return look_at_slots();
  if (!scan_) scan_.emplace(servers_[walked_]);
  RedisRequest request = scan_->step(parts_, kKeysOfStep);
  request.end = [walk = shared_from_this()](RedisAnswer answer) { walk->take(std::move(answer)); };
  ask(std::move(request));
}

void RedisSceneWalk::take(RedisAnswer answer) {
  const auto keys = scan_->take(std::move(answer));
  if (!keys.ok()) return ended_(keys.status());
  for (const std::string& key : *keys) note_scene(parts_.keys, key, found_);
  if (scan_->ended()) {
    scan_.reset();
    ++walked_;
  }
  go_on();
}

void RedisSceneWalk::ask(RedisRequest request) {
  if (!client_.begin(std::move(request))) ended_(retry("too many requests to the filter store are under way"));
}

}  // namespace bloomring
