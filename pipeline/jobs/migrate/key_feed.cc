#include "pipeline/jobs/migrate/key_feed.h"

#include <utility>

#include "base/hash.h"

namespace bloomring {

KeyFeed::KeyFeed(KeySource& source, const LegacyLayout& layout, Choice choice, Refused refused)
    : source_(source), layout_(layout), choice_(std::move(choice)), refused_(std::move(refused)) {}

Status KeyFeed::begin(const std::string& position) {
  position_ = position;
  return source_.begin(position);
}

Status KeyFeed::fill() {
  for (int i = 0; i < kFetchesMax && sets_.empty() && !ended_ && steps_.size() < kStepsMax; ++i) {
    BLOOMRING_TRY_ASSIGN(auto keys, source_.next());
    ended_ = !keys;
    if (keys) add(std::move(*keys));
  }
  return {};
}

void KeyFeed::add(std::vector<std::string> keys) {
  steps_.push_back({source_.position()});
  const uint64_t number = first_step_ + steps_.size() - 1;
  for (std::string& key : keys) {
    LegacySet set{std::move(key), {}, number};
    const LegacyRefusal refusal = layout_.read_key(set.key, set.user);
    if (refusal != LegacyRefusal::kNone) {
      // A key without a user that can be named belongs to the share that has its hash.
      if (choice_(hash_bytes(set.key, 0))) refused_(set.key, refusal);
      continue;
    }
    if (!choice_(user_hash(set.user.bytes()))) continue;
    ++steps_.back().holds;
    sets_.push_back(std::move(set));
  }
  drop_done();
}

LegacySet KeyFeed::take() {
  LegacySet set = std::move(sets_.front());
  sets_.pop_front();
  return set;
}

void KeyFeed::release(uint64_t step) {
  BLOOMRING_CHECK(at(step).holds > 0, "a step of keys is released more often than it was held");
  --at(step).holds;
  drop_done();
}

void KeyFeed::drop_done() {
  while (!steps_.empty() && steps_.front().holds == 0) {
    position_ = std::move(steps_.front().behind);
    steps_.pop_front();
    ++first_step_;
  }
}

}  // namespace bloomring
