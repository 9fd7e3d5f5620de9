// The reads of a filter store that wait for a thread: a bounded queue that is fair between callers.
//
//   push: A1 A2 A3 B1 C1 C2      pop: A1 B1 C1 A2 C2 A3
//
// Callers take turns, one read each; the reads of one caller keep their order. When the queue is full, the caller with
// the most reads loses its oldest one, which has waited longest and is the likeliest to be given up; of several such
// callers it is the one whose turn comes first. So nobody's reads push out those of a caller with fewer, and of callers
// with a read each the oldest goes.
// Memory: `reads_max` reads, and as many callers: a caller without a waiting read is forgotten.
// Threading: none; the owner locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <unordered_map>

#include "base/scatter.h"
#include "state/store/filter_reader.h"

namespace bloomring {

class ReadQueue {
 public:
  // At least 1.
  explicit ReadQueue(size_t reads_max);

  // Returns the read that loses its place, or null. It may be `read` itself.
  [[nodiscard]] std::shared_ptr<FilterRead> push(std::shared_ptr<FilterRead> read);
  // The next read; the queue is not empty.
  std::shared_ptr<FilterRead> pop();

  bool empty() const { return reads_ == 0; }
  size_t reads() const { return reads_; }
  size_t callers() const { return by_caller_.size(); }

 private:
  struct Caller {
    uint64_t id = 0;
    std::deque<std::shared_ptr<FilterRead>> reads = {};  // The oldest first; never empty.
  };
  using Callers = std::list<Caller>;

  std::shared_ptr<FilterRead> take_oldest(Callers::iterator caller);

  const size_t reads_max_;
  size_t reads_ = 0;
  Callers turns_;  // The caller whose turn comes next is the first.
  std::unordered_map<uint64_t, Callers::iterator, Scattered> by_caller_;
};

}  // namespace bloomring
