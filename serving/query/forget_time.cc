#include "serving/query/forget_time.h"

#include <algorithm>
#include <vector>

namespace bloomring {

int64_t forget_time_ms(const CandidateFilter& core, const ReplicaPartition& partition, uint64_t user_hash,
                       std::optional<ItemHash> item, std::optional<int64_t> log_told_ms) {
  const LogTime& log_time = partition.log_time();
  const int64_t earliest_ms = core.now(log_time).earliest_ms;
  const int64_t log_now_ms = log_time.now_ms(core.steady_ns()).value_or(kEventTimeMinMs);
  int64_t time_ms = log_told_ms.value_or(std::min(log_now_ms, earliest_ms));
  std::vector<ServedItem> served;
  partition.served().lookup(user_hash, earliest_ms, served);
  time_ms = std::max(time_ms, partition.recents().newest_play_ms(user_hash, item));
  for (const ServedItem& one : served) {
    if (!item || one.item == *item) time_ms = std::max(time_ms, one.time_ms);
  }
  return time_ms;
}

}  // namespace bloomring
