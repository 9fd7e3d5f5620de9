// The query core: which of these candidates has this user seen, from what is at hand? No gRPC, no threads.
//
// An answer is made in three steps, so that a caller can wait for the filter store as long as it likes:
//
//     look_up (memory)  -->  cached, else read (filter store)  -->  judge (pure)
//
// Guarantee, "no gap": a play that was applied to the partition before `look_up` is seen by `judge`. Either `look_up`
// returns it, or it had been released by then; a play is released only by a watermark that was read from the same
// filter store and covers it, and a store's read sees at least what its last watermark covers; and the read comes
// after the lookup. So the order of the steps is the proof, and it must not be changed: filters first, recent plays
// second would miss a play that is merged and released between the two. Cached filters were read earlier; the cache
// gives them only while they reach as far as memory does (serving/query/filter_cache.h).
//
// What a user has forgotten does not count (serving/query/forget_view.h); memory and filters both know of it, and the
// same order and the same cache rule hold for it.
//
// The periods of the window, and the age of what was served, follow neither the machine's clock nor the log's alone
// (serving/query/log_time.h): a replica whose clock is months ahead or behind still reads the periods that were merged.
//
// Failure: a source that cannot be read is a gap in the answer, never an error. Candidates
// found in what could be read are still seen.
// Threading: thread safe; a question and an answer belong to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "schemas/verdict.h"
#include "serving/query/filter_cache.h"
#include "serving/query/forget_view.h"
#include "serving/query/held_partition.h"
#include "serving/query/user_filters.h"
#include "state/period.h"
#include "state/store/filter_store.h"

namespace bloomring {

// Ids are hashed once, by the caller (item_hash). Borrows everything: who asks keeps it until `answer` or `judge` has
// returned, and what is answered points to none of it. A question that is held longer is held with its owner
// (serving/service/request_codec.h, DecodedFilter).
struct FilterQuestion {
  std::string_view user_key;  // UserKey bytes.
  std::span<const ItemHash> ids;
  // How many consecutive ids belong to each candidate, at least one; empty when each candidate has one.
  std::span<const uint32_t> ids_per_candidate;
  std::span<const ItemHash> client_seen;
  // When fewer candidates are unseen, the oldest period is left out, then also the last served.
  size_t min_keep = 0;
};

// What memory knows of a user, forgotten or not, and what must be asked of the store.
struct Looked {
  std::vector<PeriodIndex> periods;  // The window, newest first.
  std::vector<RecentPlay> recents;
  std::vector<RecentForget> forgets;
  std::vector<ServedItem> served;
  Offset held_from;  // Memory has everything of the user from here on.
  Offset merged;     // Filters that are read from now on have everything below.
  std::vector<Gap> gaps;
  bool left_out = false;  // The user has more plays than were wanted of any item.
};
// Without the recent plays and the served items that do not count.
Looked counted(const Looked& looked, const ForgetView& view);

struct CandidateFilterConfig {
  int64_t lag_max_ms = 5'000;            // A partition that is further behind the log makes answers incomplete.
  size_t cache_bytes_max = 256'000'000;  // Of cached filters; 0 turns the cache off.
};

class CandidateFilter {
 public:
  CandidateFilter(FilterStore& store, Calendar calendar, const Clock& clock, const CandidateFilterConfig& config);
  ~CandidateFilter();

  // All three steps.
  FilterAnswer answer(const HeldPartition& partition, const FilterQuestion& question);

  // Of a user with very many plays, `wanted` ones: the ids of the question, for an answer.
  Looked look_up(const HeldPartition& partition, std::string_view user_key, const WantedPlays& wanted) const;
  // The user's filters of the window if they are cached and exact, else null. Never blocks.
  std::shared_ptr<const UserFilters> cached(std::string_view user_key, const Looked& looked);
  // Reads them from the store and caches them. May block as long as the store does.
  Result<std::shared_ptr<const UserFilters>> read(std::string_view user_key, const Looked& looked);
  // Without filters the answer has `missing` as a gap. Everything is borrowed for the call only.
  FilterAnswer judge(const FilterQuestion& question, const Looked& looked, const UserFilters* filters,
                     std::string_view missing);

  // What was forgotten, as far as memory and filters (null: none) know.
  ForgetView forget_view(const Looked& looked, const UserFilters* filters) const;

  const Calendar& calendar() const { return calendar_; }
  int64_t now_ms() const { return clock_.now_ms(); }
  int64_t steady_ns() const { return clock_.steady_ns(); }
  // Between which times it is now, for a partition's log and this machine.
  TimeBounds now(const LogTime& log_time) const { return log_time.bounds(clock_, store_.merged_ms()); }
  FilterCacheStats cache_stats() const { return cache_.stats(); }

 private:
  class Scratch;
  std::vector<PeriodIndex> periods_between(const TimeBounds& bounds, std::vector<Gap>& gaps) const;
  FilterAnswer judge_counted(const FilterQuestion& question, const Looked& looked, const UserFilters* filters,
                             const ForgetView& view, std::string_view missing);
  void relax(Scratch& scratch, const FilterQuestion& question, const Looked& looked, FilterAnswer& answer);
  std::unique_ptr<Scratch> take_scratch();
  void give_back(std::unique_ptr<Scratch> scratch);

  FilterStore& store_;
  const Calendar calendar_;
  const Clock& clock_;
  const CandidateFilterConfig config_;
  FilterCache cache_;
  std::mutex scratch_mutex_;
  // At most one for each thread that ever judged at once, none larger than usual questions need.
  std::vector<std::unique_ptr<Scratch>> scratch_;
};

}  // namespace bloomring
