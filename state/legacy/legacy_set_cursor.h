// Reads one sorted set in pages of a bounded size, while its site goes on writing and cutting it.
//
//   command --> ZRANGEBYSCORE key FROM +inf WITHSCORES LIMIT SKIP page
//   take    <-- at most `page` members, in the order of their scores; those that the page before had are dropped
//
// A page begins at the last score of the page before, so what is added, removed or cut elsewhere in the set moves no
// member past the reader: each member that is in the set from the first page to the last one, with the same score, is
// read. (Ranks would move: a site that cuts its sets at 10,000 removes the lowest ranks.) Where a whole page has one
// score, pages continue at a rank within that score, with the last member of the page before. If that is no longer
// there, members before it came or went, and the members of that score are read again, at most kAgainMax times in all.
// Memory: one page. Cost for the server: members read, plus (members of one score)^2 / (2 * page) steps.
// Errors: kRetry for a reply of another form.
// Threading: one thread.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "state/redis/redis_reply.h"

namespace bloomring {

struct LegacyMember {
  std::string member;
  std::string score;  // As the server writes it.
};

class LegacySetCursor {
 public:
  static constexpr int kAgainMax = 20;

  // `page_members` is at least 1. With 1, pages do not overlap.
  LegacySetCursor(std::string key, size_t page_members) : key_(std::move(key)), page_members_(page_members) {}

  const std::string& key() const { return key_; }
  // True when `take` has got the last page.
  bool done() const { return done_; }
  // The bytes of the command for the next page.
  std::string command() const;
  // The reply to `command`, which is no error. The members that are new.
  Result<std::vector<LegacyMember>> take(RedisReply reply);

 private:
  const std::string key_;
  const size_t page_members_;
  bool done_ = false;
  std::string from_ = "-inf";      // A score.
  size_t skip_ = 0;                // Members of this score, read already by whole pages, without those asked for again.
  std::string anchor_;             // The member at that rank, when it was read; empty: none.
  int again_ = 0;                  // How often a score was read again.
  std::set<std::string> last_;     // The members of the last page with this score.
};

}  // namespace bloomring
