#include "pipeline/jobs/export/recent_forgets.h"

#include <algorithm>
#include <utility>

namespace bloomring {

void RecentForgets::note(uint64_t user_hash, const Event& forget) {
  if (younger_.size() >= generation_entries_max_) elder_ = std::exchange(younger_, {});
  const bool everything = forget.kind == EventKind::kForgetAll;
  int64_t& time_ms = younger_[{user_hash, everything ? 0 : forget.item.value, everything}];
  time_ms = std::max(time_ms, forget.time_ms);
}

bool RecentForgets::finds(const Of& of, int64_t time_ms) const {
  for (const Generation* generation : {&younger_, &elder_}) {
    const auto found = generation->find(of);
    if (found != generation->end() && found->second >= time_ms) return true;
  }
  return false;
}

bool RecentForgets::takes(uint64_t user_hash, const Event& play) const {
  if (younger_.empty() && elder_.empty()) return false;
  return finds({user_hash, play.item.value, false}, play.time_ms) || finds({user_hash, 0, true}, play.time_ms);
}

}  // namespace bloomring
