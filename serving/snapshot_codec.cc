#include "serving/snapshot_codec.h"

#include <algorithm>

#include "serving/request_codec.h"
#include "serving/snapshot.h"
#include "state/filter/filter.h"

namespace bloomring {

namespace {

uint64_t index_of(const std::vector<PeriodIndex>& window, PeriodIndex period) {
  return static_cast<uint64_t>(std::ranges::find(window, period) - window.begin());
}

// Filters that count and are not damaged; the damaged ones become gaps.
void add_filters(const CandidateFilter& core, const WaitingRead::Outcome& outcome, const ForgetView& view,
                 Snapshot& snapshot, std::vector<Gap>& gaps) {
  for (const StoredFilter& stored : outcome.filters->filters) {
    if (!view.filter_counts(stored.period)) continue;
    const Result<filter::Summary> summary = filter::summarize(stored.value, stored.store_key);
    if (summary.ok()) {
      snapshot.filters.push_back({index_of(outcome.looked.periods, stored.period), stored.store_key, stored.value});
    } else {
      const std::string reason =
          "filter of " + core.calendar().name(stored.period) + ": " + summary.status().to_string();
      gaps.push_back({AnswerSource::kFilters, reason});
    }
  }
}

// Forgotten items that matter to a filter of the window.
void add_forgotten(const std::vector<PeriodIndex>& window, const ForgetView& view, Snapshot& snapshot) {
  for (const ForgetView::Mask& mask : view.masks()) {
    const PeriodIndex through = std::min(mask.through, window.front());
    if (through >= window.back()) snapshot.forgotten.push_back({mask.item, index_of(window, through)});
  }
}

}  // namespace

std::vector<Gap> encode_snapshot(const CandidateFilter& core, const UserKey& user_key,
                                 const WaitingRead::Outcome& outcome, v1::GetSnapshotResponse& response) {
  const ForgetView view = core.forget_view(outcome.looked, outcome.filters);
  const Looked looked = counted(outcome.looked, view);
  std::vector<Gap> gaps = looked.gaps;
  std::vector<std::string> names;
  for (const PeriodIndex period : looked.periods) names.push_back(core.calendar().name(period));
  Snapshot snapshot;
  snapshot.user_key = user_key.bytes();
  snapshot.made_at_ms = core.now_ms();
  snapshot.periods.assign(names.begin(), names.end());
  for (const ServedItem& served : looked.served) snapshot.served.push_back(served.item);
  for (const RecentPlay& play : looked.recents) {
    // An event may be ahead of the clock by more than the window is: it belongs to the newest period then.
    const uint64_t period = index_of(looked.periods, std::min(play.period, looked.periods.front()));
    snapshot.recents.push_back({play.item, period});
  }
  if (outcome.filters == nullptr) {
    gaps.push_back({AnswerSource::kFilters, outcome.missing});
  } else {
    add_filters(core, outcome, view, snapshot, gaps);
  }
  add_forgotten(looked.periods, view, snapshot);
  snapshot.complete = gaps.empty();
  response.set_snapshot(encode_snapshot(snapshot));
  response.set_complete(gaps.empty());
  for (const Gap& gap : gaps) *response.add_gaps() = encode(gap);
  return gaps;
}

}  // namespace bloomring
