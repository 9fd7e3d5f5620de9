#include "serving/service/snapshot_codec.h"

#include <algorithm>

#include "filter/filter.h"
#include "schemas/snapshot.h"
#include "serving/query/public_reason.h"
#include "serving/service/request_codec.h"

namespace bloomring {

namespace {

uint64_t index_of(const std::vector<PeriodIndex>& window, PeriodIndex period) {
  return static_cast<uint64_t>(std::ranges::find(window, period) - window.begin());
}

// Adds the filters that count; damaged ones become gaps. The snapshot points into the outcome's filters.
void add_filters(const CandidateFilter& core, const WaitingRead::Outcome& outcome, const ForgetView& view,
                 Snapshot& snapshot, std::vector<Gap>& gaps) {
  for (const UserFilter& stored : outcome.filters->filters) {
    if (!view.filter_counts(stored.period)) continue;
    if (stored.value.ok()) {
      const filter::VerifiedValue& value = *stored.value.value();
      snapshot.filters.push_back({index_of(outcome.lookup.periods, stored.period), value.store_key(), value.bytes()});
    } else {
      const std::string reason =
          "filter of " + core.calendar().name(stored.period) + " " + public_reason(stored.value.status());
      gaps.push_back({AnswerSource::kFilters, reason});
    }
  }
}

// Adds the forgotten items that affect a filter of the window.
void add_forgotten(const std::vector<PeriodIndex>& window, const ForgetView& view, Snapshot& snapshot) {
  for (const ForgetView::Mask& mask : view.masks()) {
    const PeriodIndex through = std::min(mask.through, window.front());
    if (through >= window.back()) snapshot.forgotten.push_back({mask.item, index_of(window, through)});
  }
}

}  // namespace

std::vector<Gap> encode_snapshot(const CandidateFilter& core, const UserKey& user_key,
                                 const WaitingRead::Outcome& outcome, v1::GetSnapshotResponse& response) {
  const ForgetView view = core.forget_view(outcome.lookup, outcome.filters.get());
  const UserLookup lookup = without_forgotten(outcome.lookup, view);
  std::vector<Gap> gaps = lookup.gaps;
  if (lookup.left_out) {
    gaps.push_back({AnswerSource::kRecent, "more recent plays than the " + std::to_string(kSnapshotPlaysMax) +
                                               " that a snapshot holds of a user with so many"});
  }
  std::vector<std::string> names;
  for (const PeriodIndex period : lookup.periods) names.push_back(core.calendar().name(period));
  Snapshot snapshot;
  snapshot.user_key = user_key.bytes();
  snapshot.made_at_ms = core.now_ms();
  snapshot.periods.assign(names.begin(), names.end());
  for (const ServedItem& served : lookup.served) snapshot.served.push_back(served.item);
  for (const RecentPlay& play : lookup.recents) {
    // An event that is ahead of the window goes into its newest period.
    const uint64_t period = index_of(lookup.periods, std::min(play.period, lookup.periods.front()));
    snapshot.recents.push_back({play.item, period});
  }
  if (outcome.filters == nullptr) {
    gaps.push_back({AnswerSource::kFilters, outcome.missing});
  } else {
    add_filters(core, outcome, view, snapshot, gaps);
  }
  add_forgotten(lookup.periods, view, snapshot);
  snapshot.complete = gaps.empty();
  response.set_snapshot(encode_snapshot(snapshot));
  response.set_complete(gaps.empty());
  for (const Gap& gap : gaps) *response.add_gaps() = encode(gap);
  return gaps;
}

}  // namespace bloomring
