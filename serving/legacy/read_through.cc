#include "serving/legacy/read_through.h"

#include <utility>

namespace bloomring {

ReadThrough::ReadThrough(OldPlaysReader& old_store, CandidateFilter& core, ReadThroughCounters& counters,
                         std::string user_key)
    : old_store_(old_store),
      core_(core),
      counters_(counters),
      user_key_(std::move(user_key)),
      sets_(old_store_.sets_of(user_key_)) {}

std::vector<ItemHash> ReadThrough::wanted(std::span<const ItemHash> items) const {
  std::vector<ItemHash> all(items.begin(), items.end());
  for (const OldSet& set : sets_) all.insert(all.end(), set.marks.begin(), set.marks.end());
  return all;
}

std::vector<std::string> ReadThrough::unmigrated(const UserLookup& lookup, const UserFilters* filters) const {
  std::vector<std::string> keys;
  for (const OldSet& set : sets_)
    if (!core_.surely_seen(user_key_, set.marks, lookup, filters)) keys.push_back(set.key);
  return keys;
}

void ReadThrough::unite(const UserLookup& lookup, const UserFilters* filters, int64_t timeout_ms, United united) {
  std::vector<std::string> keys = unmigrated(lookup, filters);
  if (keys.empty()) {
    ++counters_.old_migrated;
    return united(lookup);
  }
  if (timeout_ms <= 0) return end(lookup, {{}, "old store: no time was left to read it"}, united);
  const int64_t since_ms = core_.calendar().start_ms(lookup.periods.back());
  auto ended = [self = shared_from_this(), lookup, united = std::move(united)](OldPlays old) mutable {
    self->end(std::move(lookup), std::move(old), united);
  };
  old_store_.begin(std::move(keys), since_ms, timeout_ms, std::move(ended));
}

void ReadThrough::end(UserLookup lookup, OldPlays old, const United& united) {
  ++(old.missing.empty() ? counters_.old_united : counters_.old_missing);
  counters_.old_plays += old.plays.size();
  for (const OldPlay& play : old.plays)
    lookup.recents.push_back({play.item, play.time_ms, core_.calendar().period_of_ms(play.time_ms)});
  if (!old.missing.empty()) lookup.gaps.push_back({AnswerSource::kFilters, std::move(old.missing)});
  united(lookup);
}

}  // namespace bloomring
