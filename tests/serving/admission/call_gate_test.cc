#include "serving/admission/call_gate.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace bloomring;

namespace {

using Outcome = CallGate::Outcome;

// Alarms ring when the test says so.
class ManualTimer final : public CallTimer {
 public:
  int64_t now_us() const override { return now_us_; }
  std::unique_ptr<CallAlarm> make_alarm() override { return std::make_unique<Alarm>(*this); }
  // Rings the alarms that are due or cancelled, until none is.
  void advance(int64_t ms) {
    now_us_ += ms * 1'000;
    for (;;) {
      const auto due = std::ranges::find_if(set_, [this](const Set& one) { return one.end_us <= now_us_; });
      if (due == set_.end()) return;
      const std::function<void()> ring = std::move(due->ring);
      set_.erase(due);
      ring();
    }
  }
  size_t alarms() const { return set_.size(); }

 private:
  struct Set {
    const CallAlarm* alarm;
    int64_t end_us;
    std::function<void()> ring;
  };
  struct Alarm final : CallAlarm {
    explicit Alarm(ManualTimer& its_timer) : timer(its_timer) {}
    void set(int64_t wait_ms, std::function<void()> ring) override {
      timer.set_.push_back({this, timer.now_us_ + wait_ms * 1'000, std::move(ring)});
    }
    void cancel() override {
      for (Set& one : timer.set_) {
        if (one.alarm == this) one.end_us = 0;
      }
    }
    ManualTimer& timer;
  };
  int64_t now_us_ = 1'000'000;
  std::list<Set> set_;
};

constexpr uint64_t kGreedy = 1, kModest = 2;
constexpr int64_t kWaitMs = 100;

// A gate with places for four users, or what `config` says, and the calls that went through it.
struct Gate {
  explicit Gate(const CallGateConfig& config = {.users_max = 4, .bytes_max = 1'000}) : gate(config, counters, timer) {}
  ~Gate() {
    gate.close();
    timer.advance(0);
  }

  struct Call {
    CallNeed need;
    CallGate::Answer answer = {};  // kWaits until it goes on.
    uint64_t ticket = 0;
    int answers = 0;
  };
  Call& enter(const CallNeed& need, int64_t wait_ms = kWaitMs) {
    Call& call = calls.emplace_back(Call{need});
    call.answer = gate.enter(need, wait_ms);
    if (call.answer.outcome == Outcome::kWaits) {
      call.ticket = gate.wait(need, wait_ms, [this, &call](CallGate::Answer answer) {
        call.answer = std::move(answer);
        ++call.answers;
        if (call.answer.share) order += std::to_string(call.need.caller);
      });
    }
    return call;
  }
  void leave(Call& call) {
    call.answer.share.reset();
    gate.leave(call.need.users);
    timer.advance(0);
  }

  ManualTimer timer;
  CallGateCounters counters;
  CallGate gate;
  std::list<Call> calls;
  std::string order;  // The callers of those that were admitted in their turns.
};

}  // namespace

TEST_CASE("call gate: a caller alone takes all places and all memory, and what it gives back is there again") {
  Gate at;
  auto& users = at.enter({.caller = kGreedy, .users = 4, .bytes = 10});
  CHECK(users.answer.outcome == Outcome::kAdmitted);
  CHECK(at.counters.in_flight == 4);
  at.leave(users);
  CHECK(at.counters.in_flight == 0);
  auto& bytes = at.enter({.caller = kGreedy, .users = 1, .bytes = 1'000});
  CHECK(bytes.answer.outcome == Outcome::kAdmitted);
  at.leave(bytes);
  CHECK(at.gate.memory().taken() == 0);
  CHECK(at.timer.alarms() == 0);
}

TEST_CASE("call gate: a call that may wait 0 ms is refused at once, and the reason names what is lacking") {
  Gate at;
  auto& first = at.enter({.users = 3, .bytes = 900});
  CHECK(at.enter({.users = 2}, 0).answer.reason == "3 of at most 4 users are being answered already");
  auto& refused = at.enter({.users = 1, .bytes = 101}, 0);
  CHECK(refused.answer.outcome == Outcome::kFull);
  CHECK(refused.answer.reason == "the memory for requests is taken by others");
  CHECK(at.enter({.users = 2}).answer.outcome == Outcome::kWaits);
  CHECK(at.enter({.users = 1}, 0).answer.reason == "calls that came before wait for their turn");
  CHECK(at.enter({.users = 5}).answer.outcome == Outcome::kFull);  // Has no room ever.
  CHECK(at.counters.in_flight == 3);
  at.leave(first);
}

TEST_CASE("call gate: a call goes on when its turn comes, with its share, and only where its alarm rings") {
  Gate at;
  auto& first = at.enter({.users = 4, .bytes = 1'000});
  auto& second = at.enter({.users = 4, .bytes = 1'000});
  CHECK(at.counters.waiting == 1);
  at.timer.advance(30);
  first.answer.share.reset();  // Has its memory yet to come back, then its places.
  CHECK(at.counters.waiting == 1);
  at.gate.leave(4);
  CHECK(at.counters.waiting == 0);
  CHECK(second.answers == 0);
  at.timer.advance(0);
  CHECK(second.answer.outcome == Outcome::kAdmitted);
  CHECK(at.counters.in_flight == 4);
  CHECK(at.gate.memory().taken() == 1'000);
  CHECK(at.counters.waited_admitted == 1);
  CHECK(at.counters.waited_us == 30'000);
  at.timer.advance(10 * kWaitMs);
  CHECK(second.answers == 1);
  at.leave(second);
}

TEST_CASE("call gate: a call whose patience is over is refused with the reason, and those behind it may go on") {
  Gate at;
  auto& first = at.enter({.users = 3});
  auto& large = at.enter({.caller = kGreedy, .users = 4});
  at.timer.advance(kWaitMs / 2);
  auto& small = at.enter({.caller = kModest, .users = 1});
  CHECK(small.answer.outcome == Outcome::kWaits);  // Though there is room: the large one has its turn.
  at.timer.advance(kWaitMs / 2);
  CHECK(large.answer.outcome == Outcome::kFull);
  CHECK(large.answer.reason == "3 of at most 4 users are being answered already");
  CHECK(small.answer.outcome == Outcome::kAdmitted);
  CHECK(at.counters.waited_refused == 1);
  at.leave(first);
  at.leave(small);
}

TEST_CASE("call gate: a caller with few small calls does not wait behind another's many large ones") {
  Gate at;
  auto& first = at.enter({.caller = kGreedy, .users = 4});
  std::vector<Gate::Call*> greedy;
  for (int i = 0; i < 20; ++i) greedy.push_back(&at.enter({.caller = kGreedy, .users = 4}));
  auto& modest = at.enter({.caller = kModest, .users = 1});
  at.leave(first);
  at.leave(*greedy[0]);
  CHECK(modest.answer.outcome == Outcome::kAdmitted);
  at.leave(modest);
  CHECK(at.order == "121");
}

TEST_CASE("call gate: where too many wait, the caller with most of them loses its oldest one") {
  Gate at({.users_max = 4, .bytes_max = 1'000, .waiting = {.calls_max = 2, .caller_calls_max = 2, .bytes_max = 100}});
  auto& first = at.enter({.caller = kGreedy, .users = 4});
  auto& oldest = at.enter({.caller = kGreedy, .waiting_bytes = 50});
  at.enter({.caller = kGreedy, .waiting_bytes = 50});
  auto& modest = at.enter({.caller = kModest, .waiting_bytes = 10});
  auto& too_large = at.enter({.caller = kModest, .waiting_bytes = 101});
  at.timer.advance(0);
  CHECK(oldest.answer.outcome == Outcome::kFull);
  CHECK(oldest.answer.reason == "too many calls wait, and this caller has most of them");
  CHECK(too_large.answer.outcome == Outcome::kFull);
  CHECK(modest.answer.outcome == Outcome::kWaits);
  CHECK(at.counters.waiting == 2);
  at.leave(first);
  CHECK(modest.answer.outcome == Outcome::kAdmitted);
}

TEST_CASE("call gate: a call whose client has gone leaves its turn to the next one") {
  Gate at;
  auto& first = at.enter({.users = 3});
  auto& gone = at.enter({.users = 4});
  auto& next = at.enter({.users = 1});
  at.gate.cancel(gone.ticket);
  at.timer.advance(0);
  CHECK(gone.answer.outcome == Outcome::kCancelled);
  CHECK(next.answer.outcome == Outcome::kAdmitted);
  CHECK(at.counters.waiting == 0);
  at.gate.cancel(gone.ticket);
  at.gate.cancel(next.ticket);
  at.timer.advance(10 * kWaitMs);
  CHECK(gone.answers == 1);
  CHECK(at.counters.waited_ended == 1);
  at.leave(first);
  at.leave(next);
}

TEST_CASE("call gate: when it is closed all that wait go on, and no other call waits") {
  Gate at;
  auto& first = at.enter({.users = 4});
  auto& waits = at.enter({.users = 4});
  at.gate.close();
  at.timer.advance(0);
  CHECK(waits.answer.outcome == Outcome::kEnding);
  CHECK(at.enter({.users = 1}).answer.outcome == Outcome::kEnding);
  bool ended = false;
  at.gate.wait({.users = 1}, kWaitMs, [&](const CallGate::Answer& answer) {
    ended = answer.outcome == Outcome::kEnding;
  });
  at.timer.advance(0);
  CHECK(ended);
  at.leave(first);
}

TEST_CASE("call gate: answers that a caller does not read keep no other caller from room, whoever waits before") {
  Gate at;
  auto& unread = at.enter({.caller = kGreedy, .bytes = 500});
  at.gate.leave(1);  // It is answered, and has its memory until it is read.
  std::vector<Gate::Call*> greedy;
  for (int i = 0; i < 3; ++i) greedy.push_back(&at.enter({.caller = kGreedy, .bytes = 300}));
  CHECK(greedy[0]->answer.outcome == Outcome::kWaits);
  auto& refused = at.enter({.caller = kGreedy, .bytes = 300}, 0);
  CHECK(refused.answer.reason ==
        "this caller's calls have as much of the memory for requests as they leave to others: read their answers");
  auto& modest = at.enter({.caller = kModest, .bytes = 300});
  at.timer.advance(0);
  CHECK(modest.answer.outcome == Outcome::kAdmitted);
  at.leave(modest);
  CHECK(greedy[0]->answer.outcome == Outcome::kWaits);
  unread.answer.share.reset();
  at.timer.advance(0);
  CHECK(greedy[0]->answer.outcome == Outcome::kAdmitted);
  CHECK(greedy[1]->answer.outcome == Outcome::kAdmitted);
  CHECK(greedy[2]->answer.outcome == Outcome::kWaits);  // With it the caller would have more than it leaves.
  at.timer.advance(kWaitMs);
  CHECK(greedy[2]->answer.outcome == Outcome::kFull);
  at.leave(*greedy[0]);
  at.leave(*greedy[1]);
}

// With gRPC's own alarms: each call ends once, and everything comes back.
TEST_CASE("call gate: calls of many threads are within the bounds, and each goes on once") {
  constexpr int kThreads = 4, kCalls = 500, kAtOnce = 12;
  constexpr int64_t kUsers = 3;
  CallGateCounters counters;
  constexpr CallQueueBounds kBounds{.calls_max = 16, .caller_calls_max = 12};
  CallGate gate({.users_max = kUsers, .bytes_max = 1'000, .waiting = kBounds}, counters);
  std::mutex mutex;
  std::condition_variable another;
  int begun = 0, ended = 0;
  std::vector<CallMemory::Share> working;  // Of admitted calls, which work until another call has found no room.
  size_t most = 0;
  const auto end_one = [&] {
    CallMemory::Share share;
    {
      const std::lock_guard lock(mutex);
      if (working.empty()) return;
      share = std::move(working.back());
      working.pop_back();
    }
    share = {};
    gate.leave(1);
  };
  const auto go = [&](CallGate::Answer answer) {
    if (!answer.share) end_one();
    // Under the lock, so the last call has notified before the test sees its count and ends.
    const std::lock_guard lock(mutex);
    if (answer.share) working.push_back(std::move(*answer.share));
    most = std::max(most, working.size());
    ++ended;
    another.notify_all();
  };
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kCalls; ++i) {
        {
          std::unique_lock lock(mutex);
          another.wait(lock, [&] { return begun - ended < kAtOnce; });
          ++begun;
        }
        const CallNeed need{.caller = t % 3, .users = 1, .bytes = 100};
        CallGate::Answer answer = gate.enter(need, 1 + i % 3);
        if (answer.outcome != Outcome::kWaits) {
          go(std::move(answer));
        } else if (const uint64_t ticket = gate.wait(need, 1 + i % 3, go); i % 5 == 0) {
          gate.cancel(ticket);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  gate.close();
  std::unique_lock lock(mutex);
  another.wait(lock, [&] { return ended >= kThreads * kCalls; });
  CHECK(ended == kThreads * kCalls);
  CHECK(most == kUsers);
  CHECK(counters.waited_admitted > 0);
  CHECK(counters.waited_refused > 0);
  lock.unlock();
  while (counters.in_flight > 0) end_one();
  CHECK(counters.in_flight == 0);
  CHECK(counters.waiting == 0);
  CHECK(gate.memory().taken() == 0);
}
