#include "serving/query/candidate_filter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

#include "base/hash.h"
#include "filter/exact_set.h"
#include "filter/filter.h"
#include "serving/query/public_reason.h"

namespace bloomring {

namespace {

constexpr int64_t kDayMs = 86'400'000;
// Most periods of one question, and of one snapshot (schemas/snapshot.h).
constexpr size_t kPeriodsReadMax = 64;

// The largest exact set kept for reuse: enough for a question of 20,000 candidates about an ordinary user.
constexpr size_t kExactBytesMax = 4'000'000;

// Tags of the exact set are reasons.
constexpr uint8_t tag(Reason reason) { return static_cast<uint8_t>(reason); }

// The sources that a relaxed judging leaves out.
struct LeftOut {
  bool oldest_period = false;
  bool served = false;
};

// The high bit of each byte that is not 0. The first byte in memory is the lowest.
uint64_t nonzero_bytes(uint64_t bytes) {
  static_assert(std::endian::native == std::endian::little);
  constexpr uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
  return (((bytes & kLow) + kLow) | bytes) & ~kLow;
}

// Adds the verdicts of the full judging that the relaxed one no longer has: with their reason, but not seen. Both are
// in the order of candidates, so they are merged in one walk.
void bring_back(std::vector<CandidateVerdict> before, FilterAnswer& answer) {
  for (CandidateVerdict& found : before) found.verdict.seen = false;
  std::vector<CandidateVerdict> all;
  all.reserve(before.size());
  std::ranges::set_union(answer.verdicts, before, std::back_inserter(all), {}, &CandidateVerdict::candidate,
                         &CandidateVerdict::candidate);
  answer.verdicts = std::move(all);
}

bool any_filter_counts(const UserFilters* filters, const ForgetView& view) {
  if (filters == nullptr) return false;
  return std::ranges::any_of(filters->filters,
                             [&](const UserFilter& stored) { return view.filter_counts(stored.period); });
}

}  // namespace

UserLookup without_forgotten(const UserLookup& lookup, const ForgetView& view) {
  UserLookup left = lookup;
  std::erase_if(left.recents, [&](const RecentPlay& play) { return !view.counts(play.item, play.time_ms); });
  std::erase_if(left.served, [&](const ServedItem& served) { return !view.counts(served.item, served.time_ms); });
  return left;
}

// The buffers of one judging.
class CandidateFilter::Scratch {
 public:
  ExactSet exact;
  filter::Query query;
  std::vector<uint8_t> tags;           // Of each id: its tag in the exact set.
  std::vector<uint8_t> found;          // Of each id: an index into `filter_period`, or kUnseen.
  std::vector<uint8_t> filter_period;  // Of each filter of the query: the index of its period.

  // The query shares the filters' bytes until `clear_filters`.
  void add_filters(const UserFilters& filters, const ForgetView& view, const Calendar& calendar, FilterAnswer& answer);
  void clear_filters() { query.clear(); }
  void search_filters(const FilterQuestion& question, const ForgetView& view, const UserLookup& lookup);
  void search_exact(const FilterQuestion& question, const UserLookup& lookup, const LeftOut& left_out);
  void decide(const FilterQuestion& question, const LeftOut& left_out, FilterAnswer& answer) const;

 private:
  void decide_one(size_t candidate, size_t begin, size_t end, const LeftOut& left_out, FilterAnswer& answer) const;
  void decide_single(const LeftOut& left_out, FilterAnswer& answer) const;
  void decide_grouped(const FilterQuestion& question, const LeftOut& left_out, FilterAnswer& answer) const;
  Verdict verdict_of(size_t begin, size_t end, const LeftOut& left_out, size_t periods) const;
};

void CandidateFilter::Scratch::add_filters(const UserFilters& filters, const ForgetView& view, const Calendar& calendar,
                                           FilterAnswer& answer) {
  for (const UserFilter& stored : filters.filters) {
    const auto at = std::find(answer.periods.begin(), answer.periods.end(), stored.period);
    // Skipped: filters outside the window, and those before a forget of everything.
    if (at == answer.periods.end() || !view.filter_counts(stored.period)) continue;
    const Status status = stored.value.ok() ? query.add(stored.value.value()) : stored.value.status();
    if (!status.ok()) {
      answer.gaps.push_back(
          {AnswerSource::kFilters, "filter of " + calendar.name(stored.period) + " " + public_reason(status)});
      continue;
    }
    filter_period.push_back(static_cast<uint8_t>(at - answer.periods.begin()));
  }
}

void CandidateFilter::Scratch::search_filters(const FilterQuestion& question, const ForgetView& view,
                                              const UserLookup& lookup) {
  found.resize(question.ids.size());
  if (filter_period.empty()) {
    std::fill(found.begin(), found.end(), filter::Query::kUnseen);
  } else {
    query.run(question.ids, question.user.key, found);
  }
  if (view.masks().empty()) return;
  // `found` is the newest filter that holds the item. If that one is masked, the older ones are, too.
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i] == filter::Query::kUnseen) continue;
    if (view.masked(question.ids[i], lookup.periods[filter_period[found[i]]])) found[i] = filter::Query::kUnseen;
  }
}

// Inserts in the order of reasons (client, served, recent): for an item in several sources the first reason stays.
void CandidateFilter::Scratch::search_exact(const FilterQuestion& question, const UserLookup& lookup,
                                            const LeftOut& left_out) {
  exact.reset(question.client_seen.size() + lookup.served.size() + lookup.recents.size());
  for (const ItemHash item : question.client_seen) exact.insert(item, tag(Reason::kClient));
  if (!left_out.served) {
    for (const ServedItem& served : lookup.served) exact.insert(served.item, tag(Reason::kServed));
  }
  const PeriodIndex oldest = lookup.periods.back();
  for (const RecentPlay& play : lookup.recents) {
    if (!left_out.oldest_period || play.period > oldest) exact.insert(play.item, tag(Reason::kRecent));
  }
  tags.resize(question.ids.size());
  exact.find(question.ids, tags);
}

// The verdict of the candidate with the ids [begin, end). The best of all ids wins: first by reason, then the newest
// period.
Verdict CandidateFilter::Scratch::verdict_of(size_t begin, size_t end, const LeftOut& left_out, size_t periods) const {
  Verdict verdict;
  for (size_t i = begin; i < end; ++i) {
    // In the exact set: the first reason wins. Those sources that are left out are not in the set.
    if (tags[i] != ExactSet::kAbsent) {
      if (verdict.reason == Reason::kNone || tags[i] < tag(verdict.reason))
        verdict = {static_cast<Reason>(tags[i]), 0, true};
    } else if (found[i] != filter::Query::kUnseen) {
      // In a filter only: counts after the exact reasons; the newest period wins.
      const uint8_t period = filter_period[found[i]];
      if (left_out.oldest_period && period + 1u == periods) continue;
      const bool better =
          verdict.reason == Reason::kNone || (verdict.reason == Reason::kFilter && period < verdict.period);
      if (better) verdict = {Reason::kFilter, period, true};
    }
  }
  return verdict;
}

void CandidateFilter::Scratch::decide_one(size_t candidate, size_t begin, size_t end, const LeftOut& left_out,
                                          FilterAnswer& answer) const {
  const Verdict verdict = verdict_of(begin, end, left_out, answer.periods.size());
  if (verdict.reason != Reason::kNone) answer.verdicts.push_back({static_cast<uint32_t>(candidate), verdict});
}

// Most candidates are unseen: checks eight at once, and decides only those that are found somewhere.
void CandidateFilter::Scratch::decide_single(const LeftOut& left_out, FilterAnswer& answer) const {
  constexpr size_t kStride = sizeof(uint64_t);
  static_assert(ExactSet::kAbsent == 0 && filter::Query::kUnseen == 0xff);
  const size_t candidates = tags.size();
  size_t i = 0;
  for (; i + kStride <= candidates; i += kStride) {
    uint64_t eight_tags, eight_found;
    std::memcpy(&eight_tags, &tags[i], kStride);
    std::memcpy(&eight_found, &found[i], kStride);
    for (uint64_t left = nonzero_bytes(eight_tags | ~eight_found); left != 0; left &= left - 1) {
      const size_t at = i + static_cast<size_t>(std::countr_zero(left)) / 8;
      decide_one(at, at, at + 1, left_out, answer);
    }
  }
  for (; i < candidates; ++i) decide_one(i, i, i + 1, left_out, answer);
}

void CandidateFilter::Scratch::decide_grouped(const FilterQuestion& question, const LeftOut& left_out,
                                              FilterAnswer& answer) const {
  size_t begin = 0;
  for (size_t c = 0; c < question.ids_per_candidate.size(); ++c) {
    const size_t end = begin + question.ids_per_candidate[c];
    decide_one(c, begin, end, left_out, answer);
    begin = end;
  }
}

void CandidateFilter::Scratch::decide(const FilterQuestion& question, const LeftOut& left_out,
                                      FilterAnswer& answer) const {
  answer.verdicts.clear();
  if (question.ids_per_candidate.empty()) {
    decide_single(left_out, answer);
  } else {
    decide_grouped(question, left_out, answer);
  }
  answer.seen_count = answer.verdicts.size();
}

CandidateFilter::CandidateFilter(FilterReader& store, Calendar calendar, const Clock& clock,
                                 const CandidateFilterConfig& config)
    : store_(store), calendar_(std::move(calendar)), clock_(clock), config_(config), cache_(config.cache_bytes_max) {}

CandidateFilter::~CandidateFilter() = default;

std::unique_ptr<CandidateFilter::Scratch> CandidateFilter::take_scratch() {
  std::lock_guard lock(scratch_mutex_);
  if (scratch_.empty()) return std::make_unique<Scratch>();
  std::unique_ptr<Scratch> scratch = std::move(scratch_.back());
  scratch_.pop_back();
  return scratch;
}

void CandidateFilter::give_back(std::unique_ptr<Scratch> scratch) {
  if (scratch->exact.bytes() > kExactBytesMax) scratch->exact = {};
  std::lock_guard lock(scratch_mutex_);
  scratch_.push_back(std::move(scratch));
}

// Nobody knows by how much a wrong clock is off. So it returns the periods that either time would read, usually the
// same.
std::vector<PeriodIndex> CandidateFilter::periods_between(const TimeBounds& bounds, std::vector<Gap>& gaps) const {
  std::vector<PeriodIndex> periods = calendar_.window(bounds.latest_ms);
  const PeriodIndex oldest = calendar_.window(bounds.earliest_ms).back();
  const size_t periods_max = std::max(periods.size(), kPeriodsReadMax);
  while (periods.back() > oldest && periods.size() < periods_max)
    periods.push_back(PeriodIndex(periods.back().value - 1));
  if (periods.back() > oldest) {
    const int64_t days = (bounds.latest_ms - bounds.earliest_ms) / kDayMs;
    gaps.push_back({AnswerSource::kFilters,
                    "this machine's clock and the log's differ by " + std::to_string(days) + " days"});
  }
  return periods;
}

UserLookup CandidateFilter::look_up(const ReplicaPartition& partition, UserRef user,
                                const WantedPlays& wanted) const {
  UserLookup lookup;
  // Before the plays are copied: a replica that is behind may catch up meanwhile, and the copy would lack what it read.
  const int64_t lag_ms = partition.lag_ms(clock_.steady_ns());
  const TimeBounds bounds = now(partition.log_time());
  lookup.periods = periods_between(bounds, lookup.gaps);
  const RecentPlays::Found found =
      partition.recents().lookup(user.hash, lookup.periods.back(), wanted, lookup.recents, lookup.forgets);
  lookup.recent_from = found.recent_from;
  lookup.left_out = found.left_out;
  lookup.merged = partition.merged();
  partition.served().lookup(user.hash, bounds.earliest_ms, lookup.served);
  if (!partition.joins_filters()) {
    lookup.gaps.push_back({AnswerSource::kRecent, "the log lost records before they were merged"});
  }
  if (lag_ms > config_.lag_max_ms) lookup.gaps.push_back({AnswerSource::kRecent, "behind the log", lag_ms});
  return lookup;
}

std::shared_ptr<const UserFilters> CandidateFilter::cached(UserRef user, const UserLookup& lookup) {
  return cache_.find(user, lookup.periods, lookup.recent_from);
}

Result<std::shared_ptr<const UserFilters>> CandidateFilter::keep(UserRef user, const UserLookup& lookup,
                                                                 Result<StoredUser> stored) {
  if (!stored.ok()) return std::move(stored).status().with_context("filter store");
  auto filters = std::make_shared<UserFilters>(  // Shared with the cache.
      UserFilters{lookup.periods, {}, lookup.merged, std::move(stored->forgotten)});
  for (StoredFilter& one : stored->filters) {
    filters->filters.push_back(
        {one.period, filter::VerifiedValue::verify(std::move(one.value), std::move(one.store_key))});
  }
  cache_.put(user, filters);
  return std::shared_ptr<const UserFilters>(std::move(filters));
}

bool CandidateFilter::surely_seen(UserRef user, std::span<const ItemHash> items, const UserLookup& lookup,
                                  const UserFilters* filters) {
  const FilterAnswer answer = judge({user, items, {}, {}}, lookup, filters, {});
  if (answer.seen_count < items.size()) return false;
  const auto is_exact = [](const CandidateVerdict& one) { return one.verdict.reason != Reason::kFilter; };
  if (std::ranges::all_of(answer.verdicts, is_exact)) return true;
  return std::pow(answer.expected_error, static_cast<double>(items.size())) <= kSurelyWrongMax;
}

ForgetView CandidateFilter::forget_view(const UserLookup& lookup, const UserFilters* filters) const {
  if (lookup.forgets.empty() && (filters == nullptr || filters->forgotten.empty())) return {};
  static const Forgotten kNothing;
  return ForgetView(lookup.forgets, filters == nullptr ? kNothing : filters->forgotten, calendar_);
}

FilterAnswer CandidateFilter::judge(const FilterQuestion& question, const UserLookup& lookup,
                                    const UserFilters* filters, std::string_view missing) {
  const ForgetView view = forget_view(lookup, filters);
  if (view.none()) return judge_unforgotten(question, lookup, filters, view, missing);
  return judge_unforgotten(question, without_forgotten(lookup, view), filters, view, missing);
}

FilterAnswer CandidateFilter::judge_unforgotten(const FilterQuestion& question, const UserLookup& lookup,
                                                const UserFilters* filters, const ForgetView& view,
                                                std::string_view missing) {
  FilterAnswer answer;
  answer.candidates = question.ids_per_candidate.empty() ? question.ids.size() : question.ids_per_candidate.size();
  answer.periods = lookup.periods;
  answer.gaps = lookup.gaps;
  std::unique_ptr<Scratch> scratch = take_scratch();
  scratch->filter_period.clear();
  if (filters == nullptr) {
    answer.gaps.push_back({AnswerSource::kFilters, std::string(missing)});
  } else {
    scratch->add_filters(*filters, view, calendar_, answer);
  }
  scratch->search_filters(question, view, lookup);
  answer.expected_error = scratch->query.expected_error();
  answer.saturated = scratch->query.saturated();
  answer.user_known = !lookup.recents.empty() || !lookup.served.empty() || any_filter_counts(filters, view);
  scratch->search_exact(question, lookup, {});
  scratch->decide(question, {}, answer);
  if (answer.candidates - answer.seen_count < question.min_keep) relax(*scratch, question, lookup, answer);
  scratch->clear_filters();
  give_back(std::move(scratch));
  return answer;
}

void CandidateFilter::relax(Scratch& scratch, const FilterQuestion& question, const UserLookup& lookup,
                            FilterAnswer& answer) {
  // First without the oldest period; if too few are still unseen, without the served items, too.
  std::vector<CandidateVerdict> all = std::move(answer.verdicts);
  const auto too_few = [&] { return answer.candidates - answer.seen_count < question.min_keep; };
  LeftOut left_out{.oldest_period = true, .served = false};
  scratch.search_exact(question, lookup, left_out);
  scratch.decide(question, left_out, answer);
  answer.relaxed.push_back({AnswerSource::kFilters, answer.periods.back()});
  if (too_few() && !lookup.served.empty()) {
    left_out.served = true;
    scratch.search_exact(question, lookup, left_out);
    scratch.decide(question, left_out, answer);
    answer.relaxed.push_back({AnswerSource::kServed, {}});
  }
  bring_back(std::move(all), answer);
}

FilterAnswer CandidateFilter::answer(const ReplicaPartition& partition, const FilterQuestion& question) {
  const UserLookup lookup = look_up(partition, question.user, {.items = question.ids});
  if (const auto filters = cached(question.user, lookup)) return judge(question, lookup, filters.get(), {});
  const auto filters = keep(question.user, lookup, read_now(store_, question.user, lookup.periods));
  if (filters.ok()) return judge(question, lookup, filters->get(), {});
  return judge(question, lookup, nullptr, filters.status().to_string());
}

}  // namespace bloomring
