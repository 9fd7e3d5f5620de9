#include "serving/admission/call_gate.h"

#include <algorithm>
#include <utility>

#include "base/result.h"

namespace bloomring {

namespace {

// The larger of its parts of all places and of all memory.
int64_t cost_of(const CallNeed& need, const CallGateConfig& config) {
  const double of_users = static_cast<double>(need.users) / static_cast<double>(std::max<int64_t>(config.users_max, 1));
  const double of_bytes = static_cast<double>(need.bytes) / static_cast<double>(std::max<size_t>(config.bytes_max, 1));
  const auto cost = static_cast<int64_t>(std::clamp(std::max(of_users, of_bytes), 0.0, 1.0) * kCallWhole);
  return std::max<int64_t>(cost, 1);
}

}  // namespace

struct CallGate::Waiting {
  const uint64_t ticket;
  const CallNeed need;
  const int64_t since_us;
  Go go;
  std::unique_ptr<CallAlarm> alarm;
  Answer answer = {};
  bool decided = false;
  bool armed = false;  // The alarm is set, so it can be cancelled.
};

CallGate::CallGate(const CallGateConfig& config, CallGateCounters& counters, CallTimer& timer)
    : config_(config),
      counters_(counters),
      timer_(timer),
      memory_(config.bytes_max, [this] { let_in(); }),
      queue_(config.waiting) {}

CallGate::~CallGate() { BLOOMRING_CHECK(waiting_.empty(), "no call waits at a gate that ends"); }

std::optional<CallMemory::Share> CallGate::take(const CallNeed& need) {
  if (need.users > config_.users_max - counters_.in_flight) return std::nullopt;
  auto share = memory_.take(need.bytes, need.caller);
  if (share) counters_.in_flight += need.users;
  return share;
}

std::string CallGate::lack(const CallNeed& need) const {
  if (need.users > config_.users_max - counters_.in_flight) {
    return std::to_string(counters_.in_flight) + " of at most " + std::to_string(config_.users_max) +
           " users are being answered already";
  }
  if (need.bytes > config_.bytes_max - memory_.taken()) return "the memory for requests is taken by others";
  if (memory_.has_its_part(need.bytes, need.caller))
    return "this caller's calls have as much of the memory for requests as they leave to others: read their answers";
  return "calls that came before wait for their turn";
}

CallGate::Answer CallGate::enter(const CallNeed& need, int64_t wait_ms) {
  const std::lock_guard lock(mutex_);
  if (queue_.calls() == 0) {
    if (auto share = take(need)) return {.outcome = Outcome::kAdmitted, .share = std::move(share)};
  }
  if (closed_) return {.outcome = Outcome::kEnding};
  if (need.users > config_.users_max || wait_ms <= 0) return {.outcome = Outcome::kFull, .reason = lack(need)};
  return {};
}

uint64_t CallGate::wait(const CallNeed& need, int64_t wait_ms, Go go) {
  Decided decided;
  std::shared_ptr<Waiting> call;
  {
    const std::lock_guard lock(mutex_);
    call.reset(new Waiting{++tickets_, need, timer_.now_us(), std::move(go), timer_.make_alarm()});
    const auto waiting = waiting_.emplace(call->ticket, call).first;
    ++counters_.waiting;
    if (closed_) {
      decide(waiting, {.outcome = Outcome::kEnding}, decided);
    } else {
      for (const uint64_t lost : queue_.push({call->ticket, need.caller, cost_of(need, config_), need.waiting_bytes})) {
        decide(waiting_.find(lost),
               {.outcome = Outcome::kFull, .reason = "too many calls wait, and this caller has most of them"}, decided);
      }
      let_in(decided);
    }
  }
  go_on(decided);
  const uint64_t ticket = call->ticket;
  arm(call, wait_ms);
  return ticket;
}

// Without the lock: gRPC may run other functions on this thread before `set` returns.
void CallGate::arm(const std::shared_ptr<Waiting>& call, int64_t wait_ms) {
  call->alarm->set(wait_ms, [this, call] { rang(call); });
  bool decided = false;
  {
    const std::lock_guard lock(mutex_);
    call->armed = true;
    decided = call->decided;
  }
  if (decided) call->alarm->cancel();
}

// The only place where a call that has waited goes on.
void CallGate::rang(const std::shared_ptr<Waiting>& call) {
  Decided decided;
  {
    const std::lock_guard lock(mutex_);
    call->armed = false;
    if (const auto waiting = waiting_.find(call->ticket); waiting != waiting_.end())
      give_up(waiting, {.outcome = Outcome::kFull, .reason = lack(call->need)}, decided);
  }
  go_on(decided);
  const Go go = std::move(call->go);
  go(std::move(call->answer));
}

void CallGate::cancel(uint64_t ticket) {
  Decided decided;
  {
    const std::lock_guard lock(mutex_);
    const auto waiting = waiting_.find(ticket);
    if (waiting == waiting_.end()) return;
    give_up(waiting, {.outcome = Outcome::kCancelled}, decided);
  }
  go_on(decided);
}

void CallGate::close() {
  Decided decided;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    while (queue_.next() != nullptr) {
      decide(waiting_.find(queue_.pop().ticket), {.outcome = Outcome::kEnding}, decided);
    }
  }
  go_on(decided);
}

void CallGate::leave(int64_t users) {
  if (users == 0) return;
  counters_.in_flight -= users;
  let_in();
}

void CallGate::let_in() {
  Decided decided;
  {
    const std::lock_guard lock(mutex_);
    let_in(decided);
  }
  go_on(decided);
}

// A call for which its own caller has taken the memory holds up nobody else's.
void CallGate::let_in(Decided& decided) {
  while (const QueuedCall* next = queue_.next()) {
    const auto waiting = waiting_.find(next->ticket);
    const CallNeed& need = waiting->second->need;
    if (memory_.has_its_part(need.bytes, need.caller)) {
      queue_.pass();
      continue;
    }
    auto share = take(need);
    if (!share) break;
    queue_.pop();
    decide(waiting, {.outcome = Outcome::kAdmitted, .share = std::move(share)}, decided);
  }
  queue_.renew();
}

// An alarm that is not set yet is cancelled by the thread that sets it.
void CallGate::decide(AllWaiting::iterator waiting, Answer answer, Decided& decided) {
  const std::shared_ptr<Waiting> call = std::move(waiting->second);
  waiting_.erase(waiting);
  --counters_.waiting;
  counters_.waited_us += static_cast<uint64_t>(timer_.now_us() - call->since_us);
  switch (answer.outcome) {
    case Outcome::kAdmitted: ++counters_.waited_admitted; break;
    case Outcome::kFull: ++counters_.waited_refused; break;
    default: ++counters_.waited_ended; break;
  }
  call->answer = std::move(answer);
  call->decided = true;
  if (call->armed) decided.push_back(call);
}

// Its turn may have been the next one, so others may have room now.
void CallGate::give_up(AllWaiting::iterator waiting, Answer answer, Decided& decided) {
  queue_.remove(waiting->second->need.caller, waiting->first);
  decide(waiting, std::move(answer), decided);
  let_in(decided);
}

void CallGate::go_on(const Decided& decided) {
  for (const auto& call : decided) call->alarm->cancel();
}

}  // namespace bloomring
