// The job `verify`: asks the service about the sets of a site's old store.
//
//   every member of a set, within the window that queries read, must be seen
//   items that nobody has played must be unseen, as often as the filters promise
//
//   KeyFeed --> sets, some at a time --> a page of each --> a question --> all seen: done
//                                                               |
//               missing <-- unseen three times, and in the old set still <-- doubts, asked again after a while
//
// A member that is unseen may be on its way: its play was written to the old store a moment ago. So it is asked again,
// after `settle_ms` and once more after that, and then looked for in the old store. Only then it is missing.
// An answer that is not complete is no answer: the job asks again.
//
// Guarantees: the position covers sets without open doubts. Memory: a page for each set that is read at a time, and
// kDoubtsMax doubts; with more, it reads no new pages.
// Threading: one thread.
// Errors: as Job. kRetry while the old store or the service is away, and for incomplete answers.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client/filter_call.h"
#include "pipeline/jobs/job.h"
#include "pipeline/jobs/migrate/found_file.h"
#include "pipeline/jobs/migrate/key_feed.h"
#include "pipeline/jobs/migrate/key_source.h"
#include "pipeline/jobs/migrate/refusal_counts.h"
#include "schemas/legacy/legacy_layout.h"
#include "state/legacy/legacy_set_cursor.h"
#include "state/period.h"
#include "state/redis/redis_client.h"

namespace bloomring {

struct VerifyConfig {
  double sample = 1;  // Share of the users, chosen by hash: (0, 1].
  uint32_t probes = 10;  // Items that nobody has played, asked for each set.
  double false_positive_rate = 0.01;  // The bound of what probes may find.
  int64_t settle_ms = 5'000;
  size_t page_members = 1000;
  size_t sets_at_once = 64;
  JobParameters parameters;
  std::vector<JobPlan::Fact> facts;
};

// As Client::filter_batch, strict.
using AskService = std::function<Result<std::vector<Result<FilterReply>>>(const std::vector<FilterCall>& calls)>;

// All outlive the job, and are its own.
struct VerifyParts {
  const LegacyLayout& layout;
  RedisClient& client;
  KeySource& keys;
  const Calendar& calendar;
  FoundFile& missing;
  AskService ask;
};

class VerifyJob final : public Job {
 public:
  static constexpr int kRounds = 3;
  static constexpr size_t kDoubtsMax = 100'000;  // Members.

  VerifyJob(VerifyConfig config, VerifyParts parts);

  std::string_view kind() const override { return "verify"; }
  std::string_view unit() const override { return "sets"; }
  std::string_view rate_unit() const override { return "items"; }
  JobParameters parameters() const override { return config_.parameters; }
  Result<JobPlan> plan() override;
  Status begin(const JobStart& start) override;
  Result<JobStep> step(uint64_t units_max, int64_t now_ms) override;
  // Nothing is under way between two steps: open doubts are asked again by the next start.
  Result<bool> settle(int64_t) override { return true; }
  std::string position() const override { return feed_.position(); }
  JobProgress progress() const override { return {sets_, total_}; }
  JobCounts counts() const override;
  bool differences() const override { return missing_ > 0 || too_many_false(); }

 private:
  struct OpenSet {
    LegacySet set;
    LegacySetCursor cursor;
    bool probed = false;
  };
  // Members of one set that were unseen.
  struct Doubt {
    LegacySet set;
    std::vector<LegacyMember> members;
    int rounds = 1;  // That asked for them.
    int64_t due_ms = 0;
  };
  // A question with the members that it is about; the items behind them are probes.
  struct Question {
    FilterCall call;
    std::vector<LegacyMember> members;
    const OpenSet* open = nullptr;
  };

  Result<JobStep> work(uint64_t units_max, int64_t now_ms);
  Result<std::vector<FilterReply>> ask(const std::vector<FilterCall>& calls) const;
  Result<uint64_t> ask_about_pages(size_t sets_max, int64_t now_ms);
  // Adds the questions of an answer of the old store; sets `more`.
  Status take_answer(OpenSet& open, RedisAnswer answer, int64_t now_ms, std::vector<Question>& questions, bool& more);
  bool wants(const LegacyMember& member, PeriodIndex oldest, int64_t now_ms, std::string& item);
  void judge(const Question& question, const FilterReply& reply, int64_t now_ms);
  Result<uint64_t> ask_about_doubts(int64_t now_ms);
  Status end_doubt(const Doubt& doubt, const std::vector<LegacyMember>& unseen);
  FilterCall call_about(const LegacySet& set) const;
  bool too_many_false() const;
  size_t sets_for(uint64_t units_max) const;

  const VerifyConfig config_;
  const VerifyParts parts_;
  KeyFeed feed_;
  std::deque<OpenSet> open_;
  std::deque<Doubt> doubts_;  // By the time when they are due.
  size_t doubted_ = 0;        // Members in them.
  uint64_t total_ = 0;
  uint64_t sets_ = 0;
  uint64_t pages_ = 0;
  uint64_t read_ = 0;  // Members, by this process.
  uint64_t asked_ = 0;
  uint64_t late_ = 0;     // Seen when they were asked again.
  uint64_t removed_ = 0;  // Unseen, and no longer in the old set.
  uint64_t missing_ = 0;
  uint64_t expired_ = 0;
  RefusalCounts refused_;
  uint64_t probes_ = 0;
  uint64_t false_positives_ = 0;
  double expected_ = 0;  // False positives.
};

}  // namespace bloomring
