#include "tests/simulation/sim_oracle.h"

#include <algorithm>
#include <set>

#include "schemas/event_block.h"

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

// Which forgets are late, as a log is read.
class Lateness {
 public:
  explicit Lateness(const LogFacts& facts) : facts_(facts) {}
  void begin(size_t offset, int64_t log_time_ms) {
    const auto hour = facts_.hours.find(offset);
    if (hour != facts_.hours.end()) window_ms_ = std::min(hour->second * facts_.slot_ms, newest_play_ms_);
    if (facts_.blind.contains(offset)) {
      const int64_t below_ms = offset > 0 ? logged_before_ms_ : log_time_ms;
      newest_play_ms_ = std::max(newest_play_ms_, below_ms);
      window_ms_ = std::max(window_ms_, below_ms);
    }
    logged_before_ms_ = log_time_ms;
    if (facts_.replica_hours == nullptr) return;
    replica_hour_ = std::max(replica_hour_, log_time_ms / facts_.slot_ms);  // Log time is made monotone.
    raise(replica_hour_, *facts_.replica_hours, offset);
  }
  bool late(const Event& event) const { return event.time_ms < std::max(window_ms_, replica_hour_ * facts_.slot_ms); }
  void saw(const Event& event) {
    if (event.kind == EventKind::kPlay) newest_play_ms_ = std::max(newest_play_ms_, event.time_ms);
  }

 private:
  static void raise(int64_t& value, const ByOffset& by_offset, size_t offset) {
    if (const auto found = by_offset.find(offset); found != by_offset.end()) value = std::max(value, found->second);
  }

  const LogFacts& facts_;
  int64_t newest_play_ms_ = 0;
  int64_t window_ms_ = 0;
  int64_t logged_before_ms_ = 0;
  int64_t replica_hour_ = 0;
};

}  // namespace

std::map<std::string, UserOracle> read_log(const std::vector<StoredRecord>& records, size_t end, const LogFacts& facts,
                                           const Calendar& calendar) {
  std::map<std::string, UserOracle> users;
  Lateness lateness(facts);
  for (size_t offset = 0; offset < records.size(); ++offset) {
    lateness.begin(offset, records[offset].log_time_ms);
    EventBlockReader reader = EventBlockReader::reopen(records[offset].value);
    while (reader.next_user()) {
      UserOracle& user = users.try_emplace(std::string(reader.user_key()), calendar).first->second;
      while (reader.next_event()) {
        const Event& event = reader.event();
        if (offset < end)
          user.happened(event, lateness.late(event) || offset < facts.before_restore);
        else
          user.will_happen(event);
        lateness.saw(event);
      }
    }
  }
  return users;
}

}  // namespace bloomring::simulation
