// A bound that several share, so that none of them keeps it from the others: each may hold no more than what is left of
// it. One alone has half of it; where k of them stand still, each next one has about a part in k + 2.
//
// Threading: thread safe. Who takes at the same time may go beyond the bound by what was taken then.
#pragma once

#include <atomic>
#include <cstdint>

namespace bloomring::kafka {

class SharedBound {
 public:
  explicit SharedBound(int64_t most) : most_(most) {}

  // `held` is what one of them holds. False when it may not hold `cost` more: nothing is taken then. Who holds nothing
  // may always take what is left, and the first of all any cost.
  bool take(std::atomic<int64_t>& held, int64_t cost) {
    const int64_t all = all_.load(), own = held.load();
    const int64_t left = most_ - all;
    if (all > 0 && (cost > left || (own > 0 && own + cost > left))) return false;
    held += cost;
    all_ += cost;
    return true;
  }
  void give_back(std::atomic<int64_t>& held, int64_t cost) {
    held -= cost;
    all_ -= cost;
  }
  int64_t all() const { return all_.load(); }

 private:
  const int64_t most_;
  std::atomic<int64_t> all_{0};
};

}  // namespace bloomring::kafka
