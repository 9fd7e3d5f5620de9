#include "serving/admission/call_places.h"

#include <algorithm>
#include <utility>

namespace bloomring {

namespace {
constexpr size_t kRefusedShare = 8;
}  // namespace

CallPlaces::Entrance CallPlaces::enter(Call& call, uint64_t number) {
  const std::lock_guard lock(mutex_);
  const bool room = open_ < calls_max_ || make_room(number);
  if (!room) {
    ++counters_.refused;
    const size_t refused_max = calls_max_ / kRefusedShare;
    if (refused_max == 0) return Entrance::kFull;
    if (open_ >= calls_max_ + refused_max) displace_idle();
  }
  Host& host = hosts_.try_emplace(number, Host{.number = number, .calls = {}}).first->second;
  call.stage_ = room ? kSilent : kAnswered;
  std::list<Call*>& calls = host.calls[call.stage_];
  call.at_ = calls.insert(calls.end(), &call);
  call.host_ = &host;
  counters_.open = static_cast<int64_t>(++open_);
  return room ? Entrance::kPlace : Entrance::kRefused;
}

void CallPlaces::move(Call& call, Stage stage) {
  const std::lock_guard lock(mutex_);
  if (call.host_ == nullptr) return;
  working_ += (stage == kWorking ? 1 : 0);
  working_ -= (call.stage_ == kWorking ? 1 : 0);
  auto& calls = call.host_->calls;
  calls[stage].splice(calls[stage].end(), calls[call.stage_], call.at_);
  call.stage_ = stage;
}

void CallPlaces::leave(Call& call) {
  const std::lock_guard lock(mutex_);
  if (call.host_ != nullptr) take_out(call);
}

size_t CallPlaces::hosts() {
  const std::lock_guard lock(mutex_);
  return hosts_.size();
}

const std::list<CallPlaces::Call*>& CallPlaces::most_in(Stage stage) const {
  const auto calls = [stage](const auto& host) { return host.second.calls[stage].size(); };
  return std::ranges::max_element(hosts_, {}, calls)->second.calls[stage];  // Some call is open.
}

// Calls that are being worked on are at most `calls_max_`: each of them has had a place.
bool CallPlaces::make_room(uint64_t newcomer) {
  if (working_ >= calls_max_) {
    const auto own = hosts_.find(newcomer);
    const auto& most = most_in(kWorking);
    if (most.size() <= (own == hosts_.end() ? 0 : own->second.calls[kWorking].size()) + 1) return false;
    displace(*most.front(), counters_.working_displaced);
  }
  while (open_ >= calls_max_) displace_idle();
  return true;
}

void CallPlaces::displace_idle() {
  const auto& silent = most_in(kSilent);
  if (!silent.empty()) return displace(*silent.front(), counters_.silent_displaced);
  displace(*most_in(kAnswered).front(), counters_.answered_displaced);
}

void CallPlaces::displace(Call& call, std::atomic<uint64_t>& counter) {
  take_out(call);
  ++counter;
  call.end();
}

void CallPlaces::take_out(Call& call) {
  working_ -= (call.stage_ == kWorking ? 1 : 0);
  Host& host = *std::exchange(call.host_, nullptr);
  host.calls[call.stage_].erase(call.at_);
  if (host.open() == 0) hosts_.erase(uint64_t{host.number});
  counters_.open = static_cast<int64_t>(--open_);
}

}  // namespace bloomring
