#include "state/legacy/legacy_set_cursor.h"

#include <algorithm>
#include <utility>

namespace bloomring {

std::string LegacySetCursor::command() const {
  RedisCommand command(8);
  command.add("ZRANGEBYSCORE").add(key_).add(from_).add("+inf").add("WITHSCORES").add("LIMIT");
  command.add(static_cast<int64_t>(skip_)).add(static_cast<int64_t>(page_members_));
  return std::move(command).take();
}

Result<std::vector<LegacyMember>> LegacySetCursor::take(RedisReply reply) {
  if (!reply.is(RedisReply::Kind::kArray) || reply.elements.size() % 2 != 0)
    return retry("the reply to ZRANGEBYSCORE " + key_ + " has another form");
  std::vector<LegacyMember> page;
  for (size_t i = 0; i < reply.elements.size(); i += 2)
    page.push_back({std::move(reply.elements[i].bytes), std::move(reply.elements[i + 1].bytes)});
  const std::string anchor = std::exchange(anchor_, {});
  const bool moved = !anchor.empty() && (page.empty() || page.front().member != anchor || page.front().score != from_);
  if (moved && again_ < kAgainMax) {
    ++again_;
    skip_ = 0;
    last_.clear();
    return std::vector<LegacyMember>();
  }
  const std::set<std::string> before = std::exchange(last_, {});
  done_ = page.size() < page_members_;
  if (!done_) {
    const std::string& score = page.back().score;
    skip_ = score == from_ ? skip_ + page.size() : 0;
    from_ = score;
    if (skip_ > 0 && page_members_ > 1) {
      --skip_;
      anchor_ = page.back().member;
    }
    for (const LegacyMember& one : page)
      if (one.score == from_) last_.insert(one.member);
  }
  std::erase_if(page, [&](const LegacyMember& one) { return before.contains(one.member); });
  return page;
}

}  // namespace bloomring
