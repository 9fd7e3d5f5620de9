#include "pipeline/jobs/replay/history_forgets.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace bloomring {

Status HistoryForgets::note(uint64_t user_hash, const Event& forget) {
  if (entries_.size() >= entries_max_) {
    seal();
    // Sorting again and again for a few free places would take for ever.
    if (entries_.size() > entries_max_ / 4 * 3) {
      return invalid("the log has forgets of more than " + std::to_string(entries_max_ / 4 * 3) +
                     " users and items after --from, and a replay holds no more: take a later --from");
    }
  }
  const bool everything = forget.kind == EventKind::kForgetAll;
  entries_.push_back({user_hash, everything ? 0 : forget.item.value, forget.time_ms, everything ? -1 : 0});
  return {};
}

void HistoryForgets::seal() {
  const auto target = [](const Entry& entry) { return std::tuple(entry.user, entry.everything != 0, entry.item); };
  // The latest of a target first: it stays.
  std::ranges::sort(entries_, [&](const Entry& a, const Entry& b) {
    const auto of_a = target(a), of_b = target(b);
    return of_a != of_b ? of_a < of_b : a.time_ms > b.time_ms;
  });
  const auto same = [&](const Entry& a, const Entry& b) { return target(a) == target(b); };
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
}

bool HistoryForgets::finds(uint64_t user, uint64_t item, bool everything, int64_t time_ms) const {
  const auto wanted = std::tuple(user, everything, item);
  const auto before = [](const Entry& entry, const auto& key) {
    return std::tuple(entry.user, entry.everything != 0, entry.item) < key;
  };
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), wanted, before);
  return found != entries_.end() && std::tuple(found->user, found->everything != 0, found->item) == wanted &&
         time_ms <= found->time_ms;
}

bool HistoryForgets::takes(uint64_t user_hash, const Event& play) const {
  if (entries_.empty()) return false;
  return finds(user_hash, 0, true, play.time_ms) || finds(user_hash, play.item.value, false, play.time_ms);
}

}  // namespace bloomring
