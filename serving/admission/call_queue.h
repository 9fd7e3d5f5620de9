// The calls that wait to be admitted: a bounded queue that is fair between callers by the cost of their calls.
//
//   push: A(200 users) A(200) B(1) B(1)      next: A(200) B B A(200)
//
// Deficit round robin: callers take turns. With its turn a caller gets kCallQuantum of credit and may spend all it has;
// what is left counts in its next turn. A caller alone gets every turn, so it may use the whole service.
// Guarantees:
// - While two callers wait all the time and let nobody go first, the costs of their admitted calls differ by at most
//   kCallQuantum and the cost of one call.
// - A call that costs at most kCallQuantum is behind at most one turn of each other caller and its own earlier calls.
// - The calls of one caller keep their order. Nobody's calls push out those of a caller with a smaller part of the
//   queue: where a bound is passed, the caller with the largest part loses its oldest call, the likeliest to be given
//   up. A call of more than `bytes_max` loses its own place.
// - At most `calls_max` callers are known: one without a waiting call is forgotten, its credit too.
// Threading: none; the owner locks. It reads no clock: the owner removes the calls that have waited long enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <unordered_map>
#include <vector>

#include "base/scatter.h"

namespace bloomring {

// Costs are parts of all that the service can do at once: a call of kCallWhole takes all its places, or all its memory.
inline constexpr int64_t kCallWhole = 1 << 16;
inline constexpr int64_t kCallQuantum = kCallWhole / 64;  // 16 of 1,024 users.

struct QueuedCall {
  uint64_t ticket = 0;  // Unique.
  uint64_t caller = 0;
  int64_t cost = 1;  // In [1, kCallWhole].
  size_t bytes = 0;  // That it holds while it waits.
};

struct CallQueueBounds {
  size_t calls_max = 512;         // At least 1.
  size_t caller_calls_max = 256;  // Of one caller; at least 1.
  size_t bytes_max = 16 << 20;
};

class CallQueue {
 public:
  explicit CallQueue(const CallQueueBounds& bounds);

  // Returns the tickets that lose their places, perhaps that of `call`.
  [[nodiscard]] std::vector<uint64_t> push(const QueuedCall& call);
  // The call whose turn it is, until it is popped or removed; null when none waits.
  const QueuedCall* next();
  // Takes the call of `next`, which is not null.
  QueuedCall pop();
  // The caller of `next`, which is not null, lets the others go first and keeps its turn; null is next when all do. For
  // a round of `next`, `pass` and `pop` alone, which `renew` ends.
  void pass();
  void renew();
  // Takes a call out of its turn. False when it does not wait.
  bool remove(uint64_t caller, uint64_t ticket);

  size_t calls() const { return calls_; }
  size_t callers() const { return by_id_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  struct Caller {
    uint64_t id = 0;
    std::deque<QueuedCall> calls = {};  // The oldest first; never empty between calls of this class.
    size_t bytes = 0;
    int64_t credit = 0;
    bool in_turn = false;  // Has got the credit of this turn.
  };
  using Callers = std::list<Caller>;

  bool too_many() const { return calls_ > bounds_.calls_max || bytes_ > bounds_.bytes_max; }
  Callers::iterator largest();
  QueuedCall take(Callers::iterator caller, size_t place);

  const CallQueueBounds bounds_;
  size_t calls_ = 0;
  size_t bytes_ = 0;
  Callers turns_;    // The caller whose turn it is comes first.
  Callers passing_;  // Empty between rounds.
  std::unordered_map<uint64_t, Callers::iterator, Scattered> by_id_;
};

}  // namespace bloomring
