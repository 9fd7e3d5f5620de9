#include "serving/admission/call_queue.h"

#include <algorithm>

#include "base/result.h"

namespace bloomring {

CallQueue::CallQueue(const CallQueueBounds& bounds) : bounds_(bounds) {
  BLOOMRING_CHECK(bounds.calls_max > 0 && bounds.caller_calls_max > 0, "a queue has room for a call");
}

std::vector<uint64_t> CallQueue::push(const QueuedCall& call) {
  BLOOMRING_CHECK(call.cost > 0 && call.cost <= kCallWhole, "a call costs a part of the service");
  if (call.bytes > bounds_.bytes_max) return {call.ticket};
  const auto [known, is_new] = by_id_.try_emplace(call.caller);
  if (is_new) known->second = turns_.insert(turns_.end(), Caller{call.caller});
  const auto caller = known->second;
  caller->calls.push_back(call);
  caller->bytes += call.bytes;
  bytes_ += call.bytes;
  ++calls_;
  std::vector<uint64_t> lost;
  if (caller->calls.size() > bounds_.caller_calls_max) lost.push_back(take(caller, 0).ticket);
  while (too_many()) lost.push_back(take(largest(), 0).ticket);
  return lost;
}

const QueuedCall* CallQueue::next() {
  while (!turns_.empty()) {
    const auto caller = turns_.begin();
    if (!caller->in_turn) caller->credit += kCallQuantum;
    caller->in_turn = true;
    if (caller->calls.front().cost <= caller->credit) return &caller->calls.front();
    caller->in_turn = false;
    turns_.splice(turns_.end(), turns_, caller);
  }
  return nullptr;
}

QueuedCall CallQueue::pop() {
  const QueuedCall* call = next();
  BLOOMRING_CHECK(call != nullptr, "a call waits");
  const auto caller = turns_.begin();
  caller->credit -= call->cost;
  return take(caller, 0);
}

void CallQueue::pass() {
  BLOOMRING_CHECK(next() != nullptr, "a call waits");
  passing_.splice(passing_.end(), turns_, turns_.begin());
}

void CallQueue::renew() { turns_.splice(turns_.begin(), passing_); }

bool CallQueue::remove(uint64_t caller, uint64_t ticket) {
  const auto known = by_id_.find(caller);
  if (known == by_id_.end()) return false;
  const auto& calls = known->second->calls;
  const auto call = std::ranges::find(calls, ticket, &QueuedCall::ticket);
  if (call == calls.end()) return false;
  take(known->second, static_cast<size_t>(call - calls.begin()));
  return true;
}

// By the larger of its parts of all calls and of all bytes.
CallQueue::Callers::iterator CallQueue::largest() {
  return std::ranges::max_element(turns_, {}, [this](const Caller& caller) {
    const auto part = [](size_t of, size_t all) { return static_cast<double>(of) / static_cast<double>(all); };
    return std::max(part(caller.calls.size(), bounds_.calls_max),
                    part(caller.bytes, std::max<size_t>(bounds_.bytes_max, 1)));
  });
}

QueuedCall CallQueue::take(Callers::iterator caller, size_t place) {
  const QueuedCall call = caller->calls[place];
  caller->calls.erase(caller->calls.begin() + static_cast<ptrdiff_t>(place));
  caller->bytes -= call.bytes;
  bytes_ -= call.bytes;
  --calls_;
  if (caller->calls.empty()) {
    by_id_.erase(caller->id);
    turns_.erase(caller);
  }
  return call;
}

}  // namespace bloomring
