#include "tests/simulation/sim_ledger.h"

#include <algorithm>

#include "operators/ingest_clock.h"

namespace bloomring::simulation {

size_t Ledger::new_event(std::string user_key, const Event& event, bool ahead) {
  Times& times = of(user_key, event);
  times.said_ms.insert(event.time_ms);
  ++times.uncommitted;
  said_.push_back({std::move(user_key), event, false, ahead});
  return said_.size() - 1;
}

size_t Ledger::new_refused(const std::string& bytes) {
  said_.push_back({dead_name(bytes, bytes.size()), {}, true});
  return said_.size() - 1;
}

std::vector<size_t>& Ledger::at_partition(size_t plays_partition) {
  if (records_.size() <= plays_partition) records_.resize(plays_partition + 1);
  if (committed_.size() <= plays_partition) committed_.resize(plays_partition + 1);
  return records_[plays_partition];
}

void Ledger::appended(size_t said, size_t plays_partition) {
  at_partition(plays_partition).push_back(said);
  ++said_[said].copies;
}

void Ledger::called(const std::string& user_key, const Event& event) {
  of(user_key, event).said_ms.insert(event.time_ms);
}

// A play that was said to be ahead may stand in the log with the time at which ingest read it.
bool Ledger::became(const Event& said, int64_t logged_ms) const {
  if (logged_ms == said.time_ms) return true;
  if (logged_ms > said.time_ms) return false;
  const int64_t read_ms = is_forget(said.kind) ? logged_ms + 1 : logged_ms;
  // Ingest cannot tell when in the way of an acknowledgement the broker stamped it: its latest time may be ahead by
  // that.
  const auto step = steps_ms_.lower_bound(read_ms - kAheadMaxMs - IngestClock::kVagueMs);
  return step != steps_ms_.end() && *step <= read_ms + (is_forget(said.kind) ? kForgetBehindMaxMs : kBehindMaxMs);
}

bool Ledger::was_said(const std::string& user_key, const Event& event) const {
  if (event.kind == EventKind::kServe && user_key.substr(1).starts_with("bloomring-clock")) return true;
  const auto user = times_.find(user_key);
  if (user == times_.end()) return false;
  const auto times = user->second.find({event.kind, event.item});
  if (times == user->second.end() || times->second.said_ms.empty()) return false;
  if (times->second.said_ms.contains(event.time_ms)) return true;
  return became({event.kind, event.item, *times->second.said_ms.rbegin()}, event.time_ms);
}

std::string Ledger::said_times(const std::string& user_key, const Event& event) const {
  std::string text;
  const auto user = times_.find(user_key);
  if (user == times_.end()) return text;
  if (const auto times = user->second.find({event.kind, event.item}); times != user->second.end()) {
    for (const int64_t said_ms : times->second.said_ms) text += " " + std::to_string(said_ms);
  }
  const auto step = steps_ms_.lower_bound(event.time_ms - kAheadMaxMs);
  const auto clock = [&](auto at) { return at == steps_ms_.end() ? "none" : std::to_string(*at); };
  return text + "; ingest stepped at " + (step == steps_ms_.begin() ? "none" : clock(std::prev(step))) + " and " +
         clock(step);
}

std::string Ledger::missing(const Said& said) const {
  if (said.refused) return dead_.contains(said.user_key) ? "" : "no dead letter of " + said.user_key;
  const Times& times = times_.at(said.user_key).at({said.event.kind, said.event.item});
  const bool found = times.logged_ms.contains(said.event.time_ms) ||
                     std::ranges::any_of(times.logged_ms, [&](int64_t ms) { return became(said.event, ms); });
  if (found) return "";
  std::string text = "not in the log: an event of " + said.user_key + ", item " +
                     std::to_string(said.event.item.value) + ", kind " +
                     std::to_string(static_cast<int>(said.event.kind)) + ", time " +
                     std::to_string(said.event.time_ms) + "; there are";
  for (const int64_t logged_ms : times.logged_ms) text += " " + std::to_string(logged_ms);
  return text;
}

std::string Ledger::missing_below(size_t plays_partition, int64_t next) {
  if (plays_partition >= records_.size()) return "";
  for (size_t& at = committed_[plays_partition]; at < static_cast<size_t>(std::max<int64_t>(0, next)); ++at) {
    if (records_[plays_partition][at] == kGap) continue;
    Said& said = said_[records_[plays_partition][at]];
    if (++said.copies_committed < said.copies) continue;  // The others may be the ones that ingest has packed.
    if (!said.refused && --of(said.user_key, said.event).uncommitted > 0 && said.ahead) continue;  // So may another.
    if (std::string what = missing(said); !what.empty()) return what;
  }
  return "";
}

std::string Ledger::missing() const {
  for (const Said& said : said_) {
    if (std::string what = missing(said); !what.empty()) return what;
  }
  return "";
}

}  // namespace bloomring::simulation
