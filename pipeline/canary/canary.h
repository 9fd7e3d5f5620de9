// The canary: a synthetic user whose plays go the way of all plays, so that a play which is lost or late anywhere on
// that way is noticed without a user who misses it.
//
//   wait for the interval --> send a play to the topic of plays --> ask the query service until the play is seen
//
// One play is under way at a time. Each play is of the next partition of user-events among those that the canary
// watches: it has a user of its own in each.
//
// Guarantees:
// - Users and items begin with kCanaryPrefix, which no user or item of a site has, so its plays are in nobody's filters
//   but its own.
// - No item is played twice, and a play counts as seen only where the answer says that it is a recent play. A filter
//   that takes the item for another one by its error therefore proves nothing.
// - It sends at most one play an interval, for each process that runs it. Its plays expire as all plays do.
// Threading: one thread calls `step`.
// Errors: none. A play that is lost is counted, and logged with the partition and the last reason.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/metrics/metrics.h"
#include "base/result.h"

namespace bloomring {

inline constexpr std::string_view kCanaryPrefix = "bloomring-canary-";

// The two ends of the way of a play.
class CanaryPath {
 public:
  virtual ~CanaryPath() = default;
  // Sends a play. `written` is called once, on any thread, perhaps after the path's end: when the play is durable, or
  // with the reason why it never will be.
  virtual void play(const std::string& user, const std::string& item, int64_t time_ms,
                    std::function<void(const Status&)> written) = 0;
  // Asks the query service whether the item is seen as a recent play. Waits for the answer, for a bounded time. Errors:
  // there was none.
  virtual Result<bool> is_recent(const std::string& user, const std::string& item) = 0;
};

struct CanaryConfig {
  std::string name;  // Of the process, among those that run a canary: part of its users' ids.
  std::string scene;
  std::vector<PartitionId> partitions;  // Those to watch; not empty.
  uint32_t partition_count = 1;         // Of user-events.
  int64_t interval_ms = 60'000;
  int64_t timeout_ms = 30'000;
};

class Canary {
 public:
  static constexpr int64_t kTickMs = 10;  // To be called about as often.

  // The rest outlives it.
  Canary(CanaryConfig config, CanaryPath& path, const Clock& clock, Metrics& metrics);

  // Sends the next play when it is due, or asks for the one that is under way.
  void step();

 private:
  struct Delivery;  // Shared with the callback of the play, which may outlive the canary.
  struct UnderWay {
    size_t turn;
    std::string item;
    int64_t sent_ns;
    int64_t ask_at_ns;
    std::shared_ptr<Delivery> delivery;
    std::string last_answer = "the query service answers that it is unseen";
  };

  void send(int64_t now_ns);
  void follow(UnderWay& play, int64_t now_ns);
  void end(Counter& result);
  void lose(const UnderWay& play, Counter& result, const std::string& why);

  const CanaryConfig config_;
  const std::vector<std::string> users_;  // In the order of config_.partitions.
  CanaryPath& path_;
  const Clock& clock_;
  Histogram& seconds_;
  Counter& seen_;
  Counter& unseen_;
  Counter& unwritten_;
  uint64_t plays_ = 0;
  int64_t due_ns_;
  std::unique_ptr<UnderWay> under_way_;
};

// A user of each partition: the first of "<kCanaryPrefix><name>-0", "-1" and so on that belongs to it.
std::vector<std::string> canary_users(const CanaryConfig& config);

}  // namespace bloomring
