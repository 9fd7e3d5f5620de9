#include "serving/admission/call_queue.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>

using namespace bloomring;

namespace {

constexpr uint64_t kGreedy = 1, kModest = 2;

// Hands out tickets in order.
struct Queue {
  explicit Queue(const CallQueueBounds& bounds = {}) : queue(bounds) {}
  std::vector<uint64_t> push(uint64_t caller, int64_t cost, size_t bytes = 0) {
    return queue.push({++tickets, caller, cost, bytes});
  }
  // The callers of the calls in their turns: "1121".
  std::string drain() {
    std::string callers;
    while (queue.next() != nullptr) callers += std::to_string(queue.pop().caller);
    return callers;
  }
  CallQueue queue;
  uint64_t tickets = 0;
};

}  // namespace

TEST_CASE("call queue: a caller alone gets every turn, also for calls that take the whole service") {
  Queue waiting;
  for (int i = 0; i < 5; ++i) CHECK(waiting.push(kGreedy, kCallWhole).empty());
  CHECK(waiting.drain() == "11111");
  CHECK(waiting.queue.callers() == 0);
  CHECK(waiting.queue.next() == nullptr);
}

TEST_CASE("call queue: callers get equal costs admitted, not equal numbers of calls") {
  Queue waiting;
  for (int i = 0; i < 3; ++i) CHECK(waiting.push(kGreedy, 3 * kCallQuantum).empty());
  for (int i = 0; i < 9; ++i) CHECK(waiting.push(kModest, kCallQuantum).empty());
  CHECK(waiting.drain() == "221222122212");
}

TEST_CASE("call queue: a small call is behind at most one turn of each other caller, however much waits") {
  Queue waiting;
  for (int i = 0; i < 256; ++i) CHECK(waiting.push(kGreedy, kCallQuantum).empty());
  CHECK(waiting.queue.next()->caller == kGreedy);
  CHECK(waiting.push(kModest, 1).empty());
  waiting.queue.pop();
  CHECK(waiting.queue.pop().caller == kModest);
}

TEST_CASE("call queue: a caller that cannot use its turn lets each other one go first, and keeps it") {
  Queue waiting;
  for (int i = 0; i < 3; ++i) CHECK(waiting.push(kGreedy, kCallWhole).empty());
  CHECK(waiting.push(kModest, kCallQuantum).empty());
  CHECK(waiting.push(kModest, kCallWhole).empty());
  waiting.queue.pop();  // The first of the modest one, which needs no more than a turn.
  for (int round = 0; round < 10; ++round) {
    while (waiting.queue.next()->caller != kGreedy) waiting.queue.pass();
    waiting.queue.pass();
    if (waiting.queue.next() != nullptr) {
      CHECK(waiting.queue.next()->caller == kModest);
      waiting.queue.pass();
    }
    CHECK(waiting.queue.next() == nullptr);
    waiting.queue.renew();
  }
  CHECK(waiting.drain() == "1211");
}

TEST_CASE("call queue: the call whose turn it is stays so while others come") {
  Queue waiting;
  CHECK(waiting.push(kGreedy, kCallWhole).empty());
  const uint64_t ticket = waiting.queue.next()->ticket;
  for (int i = 0; i < 100; ++i) CHECK(waiting.push(kModest, 1).empty());
  CHECK(waiting.queue.next()->ticket == ticket);
  CHECK(waiting.queue.pop().ticket == ticket);
}

TEST_CASE("call queue: the caller with the largest part of a full queue loses its oldest call") {
  Queue waiting({.calls_max = 4, .caller_calls_max = 4, .bytes_max = 1'000});
  for (int i = 0; i < 4; ++i) CHECK(waiting.push(kGreedy, 1).empty());
  CHECK(waiting.push(kModest, 1) == std::vector<uint64_t>{1});
  CHECK(waiting.push(kGreedy, 1) == std::vector<uint64_t>{2});
  CHECK(waiting.push(3, 1, 700).size() == 1);
  CHECK(waiting.push(kModest, 1, 400) == std::vector<uint64_t>{7});  // The one with most bytes.
  CHECK(waiting.push(kModest, 1, 1'001) == std::vector<uint64_t>{9});  // Has no room at all.
  CHECK(waiting.queue.calls() <= 4);
}

TEST_CASE("call queue: a caller has at most its own bound of calls, also alone") {
  Queue waiting({.calls_max = 4, .caller_calls_max = 2});
  CHECK(waiting.push(kGreedy, 1).empty());
  CHECK(waiting.push(kGreedy, 1).empty());
  CHECK(waiting.push(kGreedy, 1) == std::vector<uint64_t>{1});
  CHECK(waiting.queue.calls() == 2);
}

TEST_CASE("call queue: a call that is removed has no turn, and credit is forgotten with its caller's last call") {
  Queue waiting;
  CHECK(waiting.push(kGreedy, kCallWhole).empty());
  CHECK(waiting.queue.next()->ticket == 1);  // Has the credit for it.
  CHECK_FALSE(waiting.queue.remove(kModest, 1));
  CHECK(waiting.queue.remove(kGreedy, 1));
  CHECK_FALSE(waiting.queue.remove(kGreedy, 1));
  CHECK(waiting.queue.next() == nullptr);
  CHECK(waiting.push(kGreedy, kCallWhole).empty());
  CHECK(waiting.push(kModest, kCallQuantum).empty());
  CHECK(waiting.drain() == "21");
}

// The oracle knows no turns and no credit: it adds up the costs.
TEST_CASE("call queue: callers that wait all the time never differ by more than a quantum and a call") {
  constexpr uint64_t kCallers = 5;
  const auto seed = GENERATE(range(1u, 41u));
  INFO("seed " << seed);
  std::mt19937 random(seed);
  Queue waiting;
  int64_t cost_max = 1;
  std::map<uint64_t, int64_t> admitted;
  // Some have large calls, some small ones, some both.
  const auto push = [&](uint64_t caller) {
    const int64_t most = caller == 1 ? kCallWhole : caller == 2 ? 100 : 1 + random() % (4 * kCallQuantum);
    const int64_t cost = 1 + random() % most;
    cost_max = std::max(cost_max, cost);
    REQUIRE(waiting.push(caller, cost).empty());
  };
  for (uint64_t caller = 1; caller <= kCallers; ++caller) {
    admitted[caller] = 0;
    push(caller);
    push(caller);
  }
  for (int i = 0; i < 2'000; ++i) {
    REQUIRE(waiting.queue.next() != nullptr);
    const QueuedCall call = waiting.queue.pop();
    admitted[call.caller] += call.cost;
    push(call.caller);
    const auto [least, most] = std::ranges::minmax_element(admitted, {}, [](const auto& row) { return row.second; });
    REQUIRE(most->second - least->second <= kCallQuantum + cost_max);
  }
}

// The oracle is a list of the calls that wait, in the order in which they came.
TEST_CASE("call queue: each call leaves once, in the order of its caller, within the bounds and its share of waiting") {
  const auto seed = GENERATE(range(1u, 41u));
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const CallQueueBounds bounds{.calls_max = 12, .caller_calls_max = 7, .bytes_max = 5'000};
  constexpr uint64_t kCallers = 4;
  struct Known {
    QueuedCall call;
    std::map<uint64_t, int64_t> passed;  // Costs of others' calls that were admitted while it waited.
  };
  CallQueue queue(bounds);
  std::vector<Known> known;
  const auto forget = [&](uint64_t ticket) {
    REQUIRE(std::erase_if(known, [&](const Known& one) { return one.call.ticket == ticket; }) == 1);
  };
  for (uint64_t ticket = 1; ticket <= 3'000; ++ticket) {
    const auto action = random() % 10;
    if (action < 5) {
      const QueuedCall call{ticket, 1 + random() % kCallers, static_cast<int64_t>(1 + random() % kCallQuantum),
                            random() % 1'500};
      known.push_back({call, {}});
      for (const uint64_t lost : queue.push(call)) forget(lost);
    } else if (action < 6 && !known.empty()) {
      const QueuedCall call = known[random() % known.size()].call;
      REQUIRE(queue.remove(call.caller, call.ticket));
      forget(call.ticket);
    } else if (queue.next() != nullptr) {
      const QueuedCall call = queue.pop();
      const auto first = std::ranges::find_if(known, [&](const Known& one) { return one.call.caller == call.caller; });
      REQUIRE(first->call.ticket == call.ticket);
      // One turn of each other caller for each of its own calls before it: a quantum, and what was left of a call.
      for (const auto& [caller, cost] : first->passed) {
        REQUIRE(cost <= static_cast<int64_t>(bounds.caller_calls_max) * 2 * kCallQuantum);
      }
      forget(call.ticket);
      for (Known& one : known) {
        if (one.call.caller != call.caller) one.passed[call.caller] += call.cost;
      }
    } else {
      REQUIRE(known.empty());
    }
    size_t bytes = 0;
    for (const Known& one : known) bytes += one.call.bytes;
    REQUIRE(queue.calls() == known.size());
    REQUIRE(queue.bytes() == bytes);
    REQUIRE((queue.calls() <= bounds.calls_max && queue.bytes() <= bounds.bytes_max));
    REQUIRE(queue.callers() <= kCallers);
  }
}
