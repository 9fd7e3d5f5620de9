// The pace at which a process writes to the servers of a filter store: bytes a second, and writes under way.
//
//   bytes    A bucket that fills at the rate of the installation times the share of its partitions that this process
//            writes. A write may begin while the bucket is not in debt, and takes the bytes that are expected of it;
//            `correct` takes the difference once they are known.
//   window   Of the writes under way, of all partitions together. It grows by one for each window of quick answers,
//            and halves after a slow answer or none, at most once for the writes that were under way then (additive
//            increase, multiplicative decrease). Slow is longer than kSlowFactor times the quickest answer of the last
//            one to two minutes, and than kSlowLeastNs.
//   share    Of the window. While another partition waits for a place, a partition takes no more places than the window
//            has for each partition that writes or waits. A partition that has no write under way may begin one though
//            the window is full: so one whose server stands still keeps no other from writing.
//
// Guarantees: within any time T, writes of at most rate * (T + kBurstNs) bytes and one more write begin, as far as the
// expected bytes are right. At most as many writes are under way as the window says, and one of each partition more.
// One of each partition may always be under way as far as the rate lets it, so that writing never stops.
// Threading: thread safe. Time is steady, and given by the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

namespace bloomring {

class RedisPaceShare;

class RedisPace {
 public:
  static constexpr int64_t kBurstNs = 100'000'000;
  static constexpr int64_t kSlowFactor = 4;
  static constexpr int64_t kSlowLeastNs = 20'000'000;
  static constexpr size_t kWindowFirst = 32;
  static constexpr size_t kWindowMost = 256;

  // `bytes_per_second` is that of the installation; 0: no bound but the window.
  RedisPace(uint64_t bytes_per_second, uint32_t partitions);

  // True: a write of so many expected bytes of this partition begins now, and is under way until `end`. False: the
  // partition waits, until it begins one or rests.
  bool begin(RedisPaceShare& share, uint64_t expected_bytes, int64_t now_ns);
  void correct(uint64_t expected_bytes, uint64_t bytes);
  // `begun_ns`: when the servers got the part of it that is timed. What ends `untimed` teaches nothing.
  void end(RedisPaceShare& share, int64_t begun_ns, int64_t now_ns, bool answered);
  void end_untimed(RedisPaceShare& share);
  // The partition has nothing to begin.
  void rest(RedisPaceShare& share);

  size_t window() const;
  size_t under_way() const;

 private:
  friend RedisPaceShare;
  void enter(RedisPaceShare& share);
  void leave(RedisPaceShare& share);
  bool has_place(const RedisPaceShare& share) const;
  void fill(int64_t now_ns);
  bool is_slow(int64_t took_ns, int64_t now_ns);
  double bytes_per_ns() const;

  const double installation_bytes_per_ns_;
  const uint32_t partitions_;
  mutable std::mutex mutex_;
  std::set<RedisPaceShare*> shares_;
  double bucket_bytes_ = 0;
  int64_t filled_ns_ = 0;
  size_t under_way_ = 0;
  double window_ = kWindowFirst;
  int64_t decreased_ns_;  // An answer to a write that began earlier does not judge the window since.
  int64_t full_ns_;       // When the window last kept a write back.
  int64_t quickest_ns_;   // Of this minute, and of the one before.
  int64_t quickest_before_ns_;
  int64_t minute_ns_ = 0;
};

// A partition that this process writes. It outlives its writes.
class RedisPaceShare {
 public:
  explicit RedisPaceShare(RedisPace& pace) : pace_(pace) { pace_.enter(*this); }
  ~RedisPaceShare() { pace_.leave(*this); }
  RedisPaceShare(const RedisPaceShare&) = delete;
  RedisPaceShare& operator=(const RedisPaceShare&) = delete;

  RedisPace& pace() const { return pace_; }
  // Nothing of it waits.
  void rest() { pace_.rest(*this); }

 private:
  friend RedisPace;
  RedisPace& pace_;
  // Guarded by the mutex of the pace.
  size_t under_way_ = 0;
  bool waits_ = false;
};

// A write under way: its place in the window, until it ends or is dropped.
class RedisPacePlace {
 public:
  // Null: not now. Shared by the callbacks of the write's requests.
  static std::shared_ptr<RedisPacePlace> begin(RedisPaceShare& share, uint64_t expected_bytes, int64_t now_ns);
  ~RedisPacePlace() { end_untimed(); }
  RedisPacePlace(const RedisPacePlace&) = delete;
  RedisPacePlace& operator=(const RedisPacePlace&) = delete;

  // Once it is known how many bytes are written.
  void correct(uint64_t bytes) { share_.pace().correct(expected_bytes_, bytes); }
  void end(int64_t begun_ns, int64_t now_ns, bool answered);
  void end_untimed();

 private:
  RedisPacePlace(RedisPaceShare& share, uint64_t expected_bytes) : share_(share), expected_bytes_(expected_bytes) {}
  RedisPaceShare& share_;
  const uint64_t expected_bytes_;
  bool ended_ = false;
};

}  // namespace bloomring
