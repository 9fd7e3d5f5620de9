#include "state/redis/redis_hedges.h"

#include <algorithm>

namespace bloomring {

void RedisHedges::note_read() {
  int64_t earned = earned_;
  while (!earned_.compare_exchange_weak(earned, std::min(earned + percent_, kKept * kPrice))) {
  }
}

bool RedisHedges::take() {
  int64_t earned = earned_;
  while (earned >= kPrice) {
    if (!earned_.compare_exchange_weak(earned, earned - kPrice)) continue;
    ++asked_;
    return true;
  }
  ++withheld_;
  return false;
}

}  // namespace bloomring
