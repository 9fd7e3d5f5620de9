#include "pipeline/shadow/shadow_comparer.h"

#include <utility>

#include "base/hash.h"
#include "base/ids.h"
#include "base/log.h"
#include "pipeline/jobs/migrate/error_rate.h"

namespace bloomring {

namespace {

FilterCall about(const FilterCall& call) {
  FilterCall some;
  some.user = call.user;
  some.scene = call.scene;
  return some;
}

}  // namespace

bool ShadowComparer::too_many_new() const {
  return above_rate(counts_.new_errors.found, counts_.new_errors.asked, config_.new_error_rate);
}

bool ShadowComparer::too_many_old() const {
  return above_rate(counts_.old_errors.found, counts_.old_errors.asked, config_.old_error_rate);
}

// One line of the log for the first, so that a service that is away does not fill it.
void ShadowComparer::count_failure(const Status& failure, uint64_t& count, bool& told) {
  ++count;
  if (!std::exchange(told, true)) log_warning("a query was not answered", {{"reason", failure.message()}});
}

Result<std::optional<ShadowComparer::Answers>> ShadowComparer::ask_both(const FilterCall& call) {
  Answers answers;
  answered_ = false;
  const auto seconds_since = [this](int64_t begun_ns) {
    return static_cast<double>(parts_.clock.steady_ns() - begun_ns) / 1e9;
  };
  const int64_t old_begun_ns = parts_.clock.steady_ns();
  Result<OldAnswer> old_answer = parts_.ask_old(call);
  answers.old_seconds = seconds_since(old_begun_ns);
  if (old_answer.code() == Code::kInvalid) return old_answer.status();
  if (!old_answer.ok()) {
    count_failure(old_answer.status(), counts_.failed_old, told_old_);
    return std::optional<Answers>();
  }
  const int64_t new_begun_ns = parts_.clock.steady_ns();
  Result<FilterReply> reply = parts_.ask_new(call);
  answers.new_seconds = seconds_since(new_begun_ns);
  if (!reply.ok()) {
    count_failure(reply.status(), counts_.failed_new, told_new_);
    return std::optional<Answers>();
  }
  if (!reply->complete) {
    ++counts_.incomplete;
    return std::optional<Answers>();
  }
  answered_ = true;
  answers.old_answer = std::move(*old_answer);
  answers.new_reply = std::move(*reply);
  return std::optional<Answers>(std::move(answers));
}

Status ShadowComparer::compare(const FilterCall& query) {
  BLOOMRING_TRY_ASSIGN(const std::optional<Answers> answers, ask_both(query));
  if (!answers) return {};
  ++counts_.compared;
  latency_.old_ns.record(static_cast<uint64_t>(answers->old_seconds * 1e9));
  latency_.new_ns.record(static_cast<uint64_t>(answers->new_seconds * 1e9));
  if (parts_.observe) parts_.observe(answers->old_seconds, answers->new_seconds);
  judge(query, *answers);
  return {};
}

void ShadowComparer::judge(const FilterCall& query, const Answers& answers) {
  const int64_t now_ms = parts_.clock.now_ms();
  // A play that leaves the window within the next rounds is expired at once.
  const PeriodIndex oldest = parts_.calendar.window(now_ms + kRounds * config_.settle_ms).back();
  const ShadowRules rules{oldest, parts_.calendar, answers.old_answer.cut};
  Doubt doubt{about(query), {}, 1, 0, now_ms + config_.settle_ms, measure(query, answers, rules)};
  for (size_t i = 0; i < query.items.size(); ++i) {
    const OldVerdict& old_verdict = answers.old_answer.verdicts[i];
    const ShadowResult result = judge_first(old_verdict, answers.new_reply.items[i], rules);
    counts_.add(result);
    if (result == ShadowResult::kRefused) refusals_.add(old_verdict.refusal);
    if (result != ShadowResult::kDoubt) continue;
    doubt.call.items.push_back(query.items[i]);
    doubt.old_saw.push_back(old_verdict.seen);
  }
  if (!doubt.call.items.empty()) put_off(std::move(doubt));
}

bool ShadowComparer::measure(const FilterCall& query, const Answers& answers, const ShadowRules& rules) {
  if (measured_.size() >= kUsersMeasured) return false;
  if (!measured_.insert(user_hash(UserKey(query.scene, query.user).bytes())).second) return false;
  for (size_t i = 0; i < query.items.size(); ++i) {
    const OldVerdict& old_verdict = answers.old_answer.verdicts[i];
    const ItemVerdict& new_verdict = answers.new_reply.items[i];
    const ShadowResult result = judge_first(old_verdict, new_verdict, rules);
    if (result == ShadowResult::kUnseen || result == ShadowResult::kFalsePositive) {
      ++counts_.new_errors.asked;
      counts_.new_errors.expected += answers.new_reply.expected_error;
      counts_.new_errors.found += result == ShadowResult::kFalsePositive ? 1 : 0;
    }
    if (config_.old_filters && !new_verdict.seen) {
      ++counts_.old_errors.asked;
      counts_.old_errors.expected += config_.old_error_rate;  // They are found when the doubts end.
    }
  }
  return true;
}

void ShadowComparer::put_off(Doubt doubt) {
  doubted_ += doubt.call.items.size();
  doubts_.push_back(std::move(doubt));
}

std::optional<int64_t> ShadowComparer::due_ms() const {
  return doubts_.empty() ? std::nullopt : std::optional(doubts_.front().due_ms);
}

Status ShadowComparer::settle_next(bool last) {
  Doubt doubt = std::move(doubts_.front());
  doubts_.pop_front();
  doubted_ -= doubt.call.items.size();
  const ShadowCounts before = counts_;
  BLOOMRING_TRY_ASSIGN(const std::optional<Answers> answers, ask_both(doubt.call));
  counts_.failed_old = before.failed_old;  // These count queries.
  counts_.failed_new = before.failed_new;
  counts_.incomplete = before.incomplete;
  if (answers) return judge_doubt(std::move(doubt), *answers, last);
  if (last || ++doubt.failures == kFailuresMax) {
    end_unsettled(doubt);
    return {};
  }
  doubt.due_ms = parts_.clock.now_ms() + config_.settle_ms;
  put_off(std::move(doubt));
  return {};
}

void ShadowComparer::end_unsettled(const Doubt& doubt) {
  counts_.results[static_cast<size_t>(ShadowResult::kDoubt)] -= doubt.call.items.size();
  counts_.add(ShadowResult::kUnsettled, doubt.call.items.size());
}

void ShadowComparer::give_up() {
  for (const Doubt& doubt : doubts_) end_unsettled(doubt);
  doubts_.clear();
  doubted_ = 0;
}

Status ShadowComparer::judge_doubt(Doubt doubt, const Answers& answers, bool last) {
  const bool last_round = last || doubt.rounds + 1 >= kRounds;
  Doubt open{about(doubt.call), {}, doubt.rounds + 1, doubt.failures, parts_.clock.now_ms() + config_.settle_ms,
             doubt.measured};
  FilterCall missing = about(doubt.call);
  std::vector<int64_t> times_ms;
  for (size_t i = 0; i < doubt.call.items.size(); ++i) {
    const OldVerdict& old_verdict = answers.old_answer.verdicts[i];
    const ShadowResult result = judge_again(old_verdict, answers.new_reply.items[i], doubt.old_saw[i], last_round);
    if (result == ShadowResult::kMissing) {
      missing.items.push_back(doubt.call.items[i]);
      times_ms.push_back(old_verdict.time_ms);
    } else if (result == ShadowResult::kDoubt) {
      open.call.items.push_back(doubt.call.items[i]);
      open.old_saw.push_back(doubt.old_saw[i]);
    } else {
      counts_.add(result);
    }
  }
  counts_.results[static_cast<size_t>(ShadowResult::kDoubt)] -= doubt.call.items.size() - open.call.items.size();
  if (!open.call.items.empty()) put_off(std::move(open));
  const bool stopped = last && doubt.rounds + 1 < kRounds;
  return missing.items.empty() ? Status() : end_missing(doubt, missing, times_ms, stopped);
}

Status ShadowComparer::end_missing(const Doubt& doubt, const FilterCall& missing, const std::vector<int64_t>& times_ms,
                                   bool stopped) {
  const Result<std::vector<bool>> forgotten = parts_.forgotten(missing, times_ms);
  if (!forgotten.ok())
    log_warning("it is not known whether items were forgotten", {{"reason", forgotten.status().message()}});
  for (size_t i = 0; i < missing.items.size(); ++i) {
    const bool is_forgotten = forgotten.ok() && (*forgotten)[i];
    ShadowResult result = judge_missing(config_.old_filters, is_forgotten);
    if (stopped && !is_forgotten) result = ShadowResult::kUnsettled;
    counts_.add(result);
    if (is_forgotten) continue;
    if (result == ShadowResult::kOldError && doubt.measured) ++counts_.old_errors.found;
    parts_.differences.add({{"user", missing.user},
                            {"scene", missing.scene},
                            {"item", missing.items[i]},
                            {"time_ms", std::to_string(times_ms[i])},
                            {"result", std::string(shadow_result_name(result))}});
  }
  return parts_.differences.flush();
}

}  // namespace bloomring
