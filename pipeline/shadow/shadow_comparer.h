// Asks two services the same questions, a query at a time, and judges each candidate (shadow_verdict.h).
//
//   query --> old, then new --> judged ----> counted
//                                 | doubts
//                                 v
//             [ at most kDoubtsMax candidates ] -- after settle_ms --> both again --> judged, or a doubt once more
//
// The old store is asked first: what reaches both in between is seen by the new one. A query that one of the two does
// not answer completely is counted and compared no further.
// Memory: the doubts, and a number for each of kUsersMeasured users.
// Errors: kInvalid of a service, which no repeat mends; kFatal when the file of differences cannot be written.
// Threading: one thread. Waits for the answers.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "client/filter_call.h"
#include "pipeline/jobs/migrate/found_file.h"
#include "pipeline/jobs/migrate/refusal_counts.h"
#include "pipeline/shadow/shadow_counts.h"
#include "pipeline/shadow/shadow_verdict.h"
#include "state/period.h"

namespace bloomring {

struct OldAnswer {
  std::vector<OldVerdict> verdicts;  // One for each item of the question.
  bool cut = false;                  // As ShadowRules::cut.
};

struct ShadowConfig {
  int64_t settle_ms = 5'000;
  bool old_filters = false;      // The old store answers from Bloom filters...
  double old_error_rate = 0.01;  // ...which err so often.
  double new_error_rate = 0.01;  // The bound of the new service.
};

// All outlive the comparer.
struct ShadowParts {
  const Calendar& calendar;
  const Clock& clock;
  FoundFile& differences;
  std::function<Result<OldAnswer>(const FilterCall& call)> ask_old;
  std::function<Result<FilterReply>(const FilterCall& call)> ask_new;
  // True for each item that the user has forgotten in the new service, played at these times (0: unknown).
  std::function<Result<std::vector<bool>>(const FilterCall& call, const std::vector<int64_t>& times_ms)> forgotten;
  std::function<void(double old_seconds, double new_seconds)> observe = {};  // Latencies of a query, for metrics.
};

class ShadowComparer {
 public:
  static constexpr int kRounds = 3;
  static constexpr int kFailuresMax = 20;         // Of the questions about one doubt; then it is unsettled.
  static constexpr size_t kDoubtsMax = 100'000;   // Candidates.
  static constexpr size_t kUsersMeasured = 1'000'000;

  ShadowComparer(ShadowConfig config, ShadowParts parts) : config_(std::move(config)), parts_(std::move(parts)) {}

  // False while too many doubts are open.
  bool takes() const { return doubted_ < kDoubtsMax; }
  Status compare(const FilterCall& query);
  // When the next doubt is due, by the wall clock; nothing without doubts.
  std::optional<int64_t> due_ms() const;
  // Asks about the next doubt again. It is due, or `last`: then it is asked for the last time, and what stays a doubt
  // is unsettled.
  Status settle_next(bool last);
  // The last question was answered completely by both.
  bool answered() const { return answered_; }
  // Ends all doubts as unsettled.
  void give_up();

  const ShadowCounts& counts() const { return counts_; }
  const RefusalCounts& refusals() const { return refusals_; }  // Of old members.
  const ShadowLatency& latency() const { return latency_; }
  // Something has no explanation.
  bool differences() const { return counts_.of(ShadowResult::kMissing) > 0 || too_many_new() || too_many_old(); }
  bool too_many_new() const;  // False positives of the new service.
  bool too_many_old() const;  // Items that only an old filter has.
  const ShadowConfig& config() const { return config_; }

 private:
  struct Doubt {
    FilterCall call;  // The candidates in doubt.
    std::vector<bool> old_saw;  // At first, each of them.
    int rounds = 1;             // That asked for them.
    int failures = 0;
    int64_t due_ms = 0;
    bool measured = false;  // Of a query that counts for the error rates.
  };
  struct Answers {
    OldAnswer old_answer;
    FilterReply new_reply;
    double old_seconds = 0, new_seconds = 0;
  };

  // Nothing: it was counted as not answered.
  Result<std::optional<Answers>> ask_both(const FilterCall& call);
  static void count_failure(const Status& failure, uint64_t& count, bool& told);
  void judge(const FilterCall& query, const Answers& answers);
  // Counts the candidates that were judged, and puts off those that stay in doubt.
  Status judge_doubt(Doubt doubt, const Answers& answers, bool last);
  // `missing` are candidates of the doubt, played at these times.
  Status end_missing(const Doubt& doubt, const FilterCall& missing, const std::vector<int64_t>& times_ms, bool stopped);
  void put_off(Doubt doubt);
  void end_unsettled(const Doubt& doubt);
  // True when the query counts for the error rates.
  bool measure(const FilterCall& query, const Answers& answers, const ShadowRules& rules);

  const ShadowConfig config_;
  const ShadowParts parts_;
  ShadowCounts counts_;
  RefusalCounts refusals_;
  ShadowLatency latency_;
  std::deque<Doubt> doubts_;  // By the time when they are due.
  size_t doubted_ = 0;        // Candidates in them.
  bool answered_ = true;
  bool told_old_ = false, told_new_ = false;  // That a query was not answered.
  std::unordered_set<uint64_t> measured_;  // Users, by hash.
};

}  // namespace bloomring
