// A bound that several holders share, so that no holder can exhaust it: each may hold at most as much as is left. A
// single holder can have half of the bound. Holders that grow together get equal parts: with k stuck ones, the next
// has about 1 / (k + 2).
//
// Threading: thread safe. Concurrent takes may exceed the bound by the amounts taken at the same time.
#pragma once

#include <atomic>
#include <cstdint>

namespace bloomring::kafka {

class SharedBound {
 public:
  explicit SharedBound(int64_t most) : most_(most) {}

  // `own` is the amount of one holder. False, and nothing is taken, when it may not hold `cost` more. A holder of
  // nothing may take all that is left. The first take of all may have any cost.
  bool take(std::atomic<int64_t>& own, int64_t cost) {
    const int64_t all = all_.load(), before = own.load();
    const int64_t left = most_ - all;
    if (all > 0 && (cost > left || (before > 0 && before + cost > left))) return false;
    own += cost;
    all_ += cost;
    return true;
  }
  void give_back(std::atomic<int64_t>& own, int64_t cost) {
    own -= cost;
    all_ -= cost;
  }
  int64_t all() const { return all_.load(); }

 private:
  const int64_t most_;
  std::atomic<int64_t> all_{0};
};

}  // namespace bloomring::kafka
