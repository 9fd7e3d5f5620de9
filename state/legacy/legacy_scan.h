// Lists the keys of the old store with SCAN, server by server, a step after the other.
//
//   position --> [primary that is not done] --> SCAN ... --> its cursor is 0: done --> the next primary --> ... --> end
//
// A key that is there from the beginning to the end is given at least once; some are given twice.
// The position survives the process that walks: `text` and `parse`. A cursor is of use for one run of a server alone,
// because each run hashes keys with a secret of its own: after a restart of the server, which its run id tells, and
// after a failover, the walk of that server begins again. (Of a server that does not tell its run id, it begins again
// with each process, and after each answer that does not come.) What a resharding of a cluster moves from a server that
// is not done yet to one that is, the walk misses; a second walk finds it.
// Memory: the keys of one step.
// Errors: kRetry when a server is away: the next call goes on from the same position, with the primaries of then.
// Threading: one thread. Waits.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "state/redis/redis_client.h"

namespace bloomring {

struct LegacyScanPosition {
  std::vector<std::string> done = {};  // Primaries, as "host:port", all of whose keys were given.
  std::string server = {};             // The one that is being walked; empty: none.
  std::string run = {};                // The run of that server in which `cursor` is good.
  std::string cursor = "0";

  // "done 10.0.0.1:6379 at 10.0.0.2:6379 5f0c... 1792".
  std::string text() const;
  // kInvalid for a text of another form. The empty text is the beginning.
  static Result<LegacyScanPosition> parse(std::string_view text);
  bool operator==(const LegacyScanPosition&) const = default;
};

class LegacyScan {
 public:
  // `glob` as of LegacyLayout. The client outlives the walk.
  LegacyScan(RedisClient& client, std::string glob, LegacyScanPosition from = {});

  // The keys of the next step, perhaps none; nothing when all servers are done.
  Result<std::optional<std::vector<std::string>>> next();
  // Behind the keys that `next` has given.
  const LegacyScanPosition& position() const { return position_; }

 private:
  Result<bool> choose_server();
  Result<std::vector<std::string>> step();

  RedisClient& client_;
  const std::string glob_;
  LegacyScanPosition position_;
  bool chosen_ = false;  // The server of the position is a primary, as last heard.
  bool walked_ = false;  // The last step was of this server, and was answered.
};

}  // namespace bloomring
