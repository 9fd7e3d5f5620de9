// The query core: decides which of these candidates this user has seen. No gRPC, no threads.
//
// An answer is made in three steps, so that a caller can wait for the filter store as long as it likes:
//
//     look_up (memory)  -->  cached, else read (filter store)  -->  judge (pure)
//
// Guarantees: "no gap": a play that was applied to the partition before `look_up` is seen by `judge`. The proof:
// 1. Either `look_up` returns the play, or memory had released it by then.
// 2. Memory releases a play only by a watermark that was read from the same filter store and covers the play.
// 3. A read of the store sees at least all that the store's last watermark covers, and comes after the lookup.
// So the order of the steps must not change: filters first, recent plays second would miss a play that is merged and
// released between the two. Cached filters were read earlier; the cache returns them only while they reach as far as
// memory does (serving/query/filter_cache.h).
//
// Forgotten plays and serves do not count (serving/query/forget_view.h). Forgets are in memory and in the filter
// store, under the same order and the same cache rule.
//
// The periods of the window and the age of served items depend on the machine's clock and on the log's
// (serving/query/log_time.h): a replica whose clock is months ahead or behind still reads the periods that were
// merged.
//
// Errors: a source that cannot be read is a gap in the answer, never an error. Candidates found in the other sources
// are still seen.
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
#include "base/user_ref.h"
#include "schemas/verdict.h"
#include "serving/query/filter_cache.h"
#include "serving/query/forget_view.h"
#include "serving/query/replica_partition.h"
#include "serving/query/user_filters.h"
#include "state/period.h"
#include "state/store/filter_reader.h"

namespace bloomring {

// The caller hashes the ids, once (item_hash). Borrows everything: the caller keeps it until `answer` or `judge` has
// returned. The answer points to none of it. To hold a question longer, hold it with its owner
// (serving/service/request_codec.h, DecodedFilter).
struct FilterQuestion {
  UserRef user;
  std::span<const ItemHash> ids;
  // How many consecutive ids belong to each candidate, at least one; empty when each candidate has one.
  std::span<const uint32_t> ids_per_candidate;
  std::span<const ItemHash> client_seen;
  // When fewer candidates are unseen, the answer leaves out the oldest period, then also the served items.
  size_t min_keep = 0;
};

// The state of a user in memory, forgotten or not, and the periods to read from the store.
struct UserLookup {
  std::vector<PeriodIndex> periods;  // The window, newest first.
  std::vector<RecentPlay> recents;
  std::vector<Forget> forgets;
  std::vector<ServedItem> served;
  Offset recent_from;  // Memory has everything of the user at and above this offset.
  Offset merged;     // Filters read from now on have everything below this offset.
  std::vector<Gap> gaps;
  bool left_out = false;  // The user has more plays than the lookup wanted.
};
// A copy without the recent plays and the served items that do not count.
UserLookup without_forgotten(const UserLookup& lookup, const ForgetView& view);

struct CandidateFilterConfig {
  int64_t lag_max_ms = 5'000;            // A partition that is further behind the log makes answers incomplete.
  size_t cache_bytes_max = 256'000'000;  // Of cached filters; 0 turns the cache off.
};

class CandidateFilter {
 public:
  // `store` and `clock` outlive the core.
  CandidateFilter(FilterReader& store, Calendar calendar, const Clock& clock, const CandidateFilterConfig& config);
  ~CandidateFilter();

  // All three steps; waits for the store.
  FilterAnswer answer(const ReplicaPartition& partition, const FilterQuestion& question);

  // Of a user with very many plays it returns the `wanted` ones. For an answer, want the ids of the question.
  UserLookup look_up(const ReplicaPartition& partition, UserRef user, const WantedPlays& wanted) const;
  // The user's filters of the window if they are cached and still exact, else null. Never blocks.
  std::shared_ptr<const UserFilters> cached(UserRef user, const UserLookup& lookup);
  // Verifies and caches what a read of `store` that began after the lookup has found of the user.
  Result<std::shared_ptr<const UserFilters>> keep(UserRef user, const UserLookup& lookup,
                                                  Result<StoredUser> stored);
  // With null `filters` the answer has the gap `missing`. Borrows its arguments for the call only.
  FilterAnswer judge(const FilterQuestion& question, const UserLookup& lookup, const UserFilters* filters,
                     std::string_view missing);

  // True when the user has played all of these items, with a probability of at most kSurelyWrongMax that it is wrong.
  static constexpr double kSurelyWrongMax = 1e-9;
  bool surely_seen(UserRef user, std::span<const ItemHash> items, const UserLookup& lookup, const UserFilters* filters);

  // The forgets in memory and in `filters` (null: none).
  ForgetView forget_view(const UserLookup& lookup, const UserFilters* filters) const;

  FilterReader& store() { return store_; }
  const Calendar& calendar() const { return calendar_; }
  int64_t now_ms() const { return clock_.now_ms(); }
  int64_t steady_ns() const { return clock_.steady_ns(); }
  // The bounds of the current time by a partition's log and this machine.
  TimeBounds now(const LogTime& log_time) const { return log_time.bounds(clock_, store_.merged_ms()); }
  FilterCacheStats cache_stats() const { return cache_.stats(); }

 private:
  class Scratch;
  std::vector<PeriodIndex> periods_between(const TimeBounds& bounds, std::vector<Gap>& gaps) const;
  FilterAnswer judge_unforgotten(const FilterQuestion& question, const UserLookup& lookup, const UserFilters* filters,
                                 const ForgetView& view, std::string_view missing);
  void relax(Scratch& scratch, const FilterQuestion& question, const UserLookup& lookup, FilterAnswer& answer);
  std::unique_ptr<Scratch> take_scratch();
  void give_back(std::unique_ptr<Scratch> scratch);

  FilterReader& store_;
  const Calendar calendar_;
  const Clock& clock_;
  const CandidateFilterConfig config_;
  FilterCache cache_;
  std::mutex scratch_mutex_;
  // At most one for each thread that judges at the same time, none larger than usual questions need.
  std::vector<std::unique_ptr<Scratch>> scratch_;
};

}  // namespace bloomring
