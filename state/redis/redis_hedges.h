// The bound of hedges: second questions that a read asks while its first one is not answered.
//
// Each read earns a share of a hedge, and a hedge costs a whole one. So there are never more hedges than that share of
// the reads, however slow all servers are: a servers' bad time gets no worse by them. Shares that were not used
// are kept for kKept hedges, for a server that stands still after hours without trouble.
// Threading: thread safe.
#pragma once

#include <atomic>
#include <cstdint>

namespace bloomring {

class RedisHedges {
 public:
  // At most `percent` hedges for 100 reads.
  explicit RedisHedges(uint32_t percent) : percent_(percent) {}

  void note_read();
  // True when the read may ask a second time.
  bool take();
  void note_first() { ++first_; }
  void note_behind() { ++behind_; }

  uint64_t asked() const { return asked_; }
  uint64_t first() const { return first_; }        // Of them, those whose answer came first and was taken.
  uint64_t behind() const { return behind_; }      // Of them, those that a replica without all of the watermark got.
  uint64_t withheld() const { return withheld_; }  // Would have been asked without the bound.

  static constexpr int64_t kKept = 100;

 private:
  static constexpr int64_t kPrice = 100;
  const int64_t percent_;
  std::atomic<int64_t> earned_{0};  // In hundredths of a hedge.
  std::atomic<uint64_t> asked_{0};
  std::atomic<uint64_t> first_{0};
  std::atomic<uint64_t> behind_{0};
  std::atomic<uint64_t> withheld_{0};
};

}  // namespace bloomring
