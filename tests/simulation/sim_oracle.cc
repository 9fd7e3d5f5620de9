#include "tests/simulation/sim_oracle.h"

#include <algorithm>
#include <set>

namespace bloomring::simulation {

void UserOracle::Until::forget(const Event& event, int64_t time_ms) {
  int64_t& until_ms = event.kind == EventKind::kForgetAll ? everything_ms : items_ms[event.item];
  until_ms = std::max(until_ms, time_ms);
}

int64_t UserOracle::Until::of(ItemHash item) const {
  const auto found = items_ms.find(item);
  return found == items_ms.end() ? everything_ms : std::max(everything_ms, found->second);
}

void UserOracle::will_happen(const Event& event) {
  if (is_forget(event.kind)) exact_.forget(event, event.time_ms);
  if (event.kind != EventKind::kPlay) return;
  newest_play_ms_[event.item] = std::max(newest_play_ms_[event.item], event.time_ms);
  played_in_[calendar_.period_of_ms(event.time_ms)].insert(event.item);
}

void UserOracle::happened(const Event& event, bool may_reach_less) {
  will_happen(event);
  if (event.kind == EventKind::kPlay) {
    plays_.push_back({event.item, event.time_ms, calendar_.period_of_ms(event.time_ms)});
  } else if (event.kind == EventKind::kServe) {
    int64_t& newest_ms = serves_[event.item];
    newest_ms = std::max(newest_ms, event.time_ms);
  } else {
    const int64_t period_start_ms = calendar_.start_ms(calendar_.period_of_ms(event.time_ms));
    at_least_.forget(event, may_reach_less ? period_start_ms - 1 : event.time_ms);
    ++forgets_;
  }
}

void UserOracle::was_acknowledged(const Event& event) {
  if (event.kind == EventKind::kPlay)
    acknowledged_.push_back({event.item, event.time_ms, calendar_.period_of_ms(event.time_ms)});
}

std::vector<ItemHash> UserOracle::must_be_seen_or_told(PeriodIndex oldest, PeriodIndex newest) const {
  std::set<ItemHash> items;
  for (const Play& play : acknowledged_) {
    if (play.period >= oldest && play.period <= newest && counts(play.item, play.time_ms)) items.insert(play.item);
  }
  return {items.begin(), items.end()};
}

bool UserOracle::counts(ItemHash item, int64_t time_ms) const { return time_ms > exact_.of(item); }

bool UserOracle::must_be_seen(ItemHash item, PeriodIndex oldest, PeriodIndex newest) const {
  return std::ranges::any_of(plays_, [&](const Play& play) {
    return play.item == item && play.period >= oldest && play.period <= newest && counts(item, play.time_ms);
  });
}

const std::set<ItemHash>& UserOracle::played_in(PeriodIndex period) const {
  static const std::set<ItemHash> kNone;
  const auto found = played_in_.find(period);
  return found == played_in_.end() ? kNone : found->second;
}

bool UserOracle::must_be_unseen(ItemHash item) const {
  const auto newest = newest_play_ms_.find(item);
  return newest == newest_play_ms_.end() || newest->second <= at_least_.of(item);
}

std::vector<ItemHash> UserOracle::items() const {
  std::set<ItemHash> items;
  for (const Play& play : plays_) items.insert(play.item);
  return {items.begin(), items.end()};
}

std::vector<ItemHash> UserOracle::served(size_t per_user_max, int64_t oldest_ms) const {
  std::vector<std::pair<int64_t, ItemHash>> newest;
  for (const auto& [item, time_ms] : serves_) newest.emplace_back(time_ms, item);
  std::ranges::sort(newest, std::greater<>());
  if (newest.size() > per_user_max && newest[per_user_max].first == newest[per_user_max - 1].first) return {};
  std::vector<ItemHash> items;
  for (size_t i = 0; i < std::min(per_user_max, newest.size()); ++i) {
    if (newest[i].first >= oldest_ms && counts(newest[i].second, newest[i].first)) items.push_back(newest[i].second);
  }
  return items;
}

namespace {

// Which forgets may be late, as a log is read.
class Lateness {
 public:
  explicit Lateness(const LogFacts& facts) : facts_(facts) {}
  void begin(size_t offset, int64_t log_time_ms, bool is_record) {
    if (facts_.made_anew && !began_) blind_ms_ = log_time_ms;
    began_ = began_ || is_record;
    const int64_t hour = log_time_ms / facts_.slot_ms;
    if (hour > hour_) {
      hour_ = hour;  // Log time is made monotone.
      before_hour_ms_ = newest_play_ms_;
      went_back_ = false;
    }
    went_back_ = went_back_ || hour < hour_;
    const bool may_have_ended_early = offset >= facts_.clock_wrong_from;
    window_ms_ = may_have_ended_early ? newest_play_ms_ : before_hour_ms_;
    const bool blind = facts_.blind.at.contains(offset);
    if (blind && below_is_record_) blind_ms_ = std::max(blind_ms_, below_ms_);
    without_below_ |= (blind && !below_is_record_) || facts_.blind.without_record_below.contains(offset);
    if (without_below_) blind_ms_ = std::max(blind_ms_, log_time_ms);
    without_below_ = without_below_ && !is_record;
    below_ms_ = log_time_ms;
    below_is_record_ = is_record;
    if (facts_.replica_hours == nullptr) return;
    const auto began = facts_.replica_hours->find(offset);
    if (began != facts_.replica_hours->end()) replica_hour_ = std::max(replica_hour_, began->second);
    if (went_back_ || hour <= replica_hour_) window_ms_ = newest_play_ms_;
    replica_ms_ = replica_hour_ * facts_.slot_ms;
  }
  bool late(const Event& event) const {
    return event.time_ms < std::max({window_ms_, blind_ms_, replica_ms_});
  }
  void saw(const Event& event) {
    if (event.kind == EventKind::kPlay) newest_play_ms_ = std::max(newest_play_ms_, event.time_ms);
  }

 private:
  const LogFacts& facts_;
  int64_t hour_ = 0;
  bool began_ = false;      // The first record was read.
  bool without_below_ = false;  // A window stage began here, and reads its first record next.
  bool went_back_ = false;  // Log time, to before the hour, since the hour began.
  int64_t newest_play_ms_ = 0;
  int64_t before_hour_ms_ = 0;  // The newest play that was logged before the hour.
  int64_t window_ms_ = 0;
  int64_t blind_ms_ = 0;
  int64_t below_ms_ = 0;  // When the record before was logged...
  bool below_is_record_ = false;  // ...if there is one at that offset.
  int64_t replica_hour_ = 0;  // No earlier one for the replica, since it began.
  int64_t replica_ms_ = 0;
};

}  // namespace

std::map<std::string, UserOracle> read_log(const std::vector<LoggedRecord>& records, size_t applied,
                                           size_t acknowledged, const LogFacts& facts, const Calendar& calendar) {
  std::map<std::string, UserOracle> users;
  for (const EarlierRecord& record : facts.before) {
    for (const auto& [user_key, event] : record.events) {
      if (event.kind == EventKind::kServe) continue;  // Nobody knows of it any more.
      UserOracle& user = users.try_emplace(user_key, calendar).first->second;
      record.merged ? user.happened(event, true) : user.will_happen(event);
      if (record.merged) user.was_acknowledged(event);
    }
  }
  Lateness lateness(facts);
  for (size_t offset = 0; offset < records.size(); ++offset) {
    lateness.begin(offset, records[offset].log_time_ms, !records[offset].events.empty());
    for (const auto& [user_key, logged] : records[offset].events) {
      Event event = logged;
      if (event.kind == EventKind::kServe) {
        if (offset < facts.log_start) continue;
        event.time_ms = std::min(event.time_ms, records[offset].log_time_ms);
      }
      UserOracle& user = users.try_emplace(user_key, calendar).first->second;
      const bool lost = records[offset].lost;
      if (offset < applied && !lost)
        user.happened(event, lateness.late(event) || offset < facts.before_restore);
      else
        user.will_happen(event);
      if (offset < acknowledged && !lost) user.was_acknowledged(event);
      lateness.saw(event);
    }
  }
  return users;
}

}  // namespace bloomring::simulation
