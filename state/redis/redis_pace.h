// The pace at which a process writes to the servers of a filter store: bytes a second, and writes under way.
//
//   bytes    A bucket that fills at the rate of the installation times the share of its partitions that this process
//            writes. A write may begin while the bucket is not in debt, and takes the bytes that are expected of it;
//            `correct` takes the difference once they are known.
//   window   Of the writes under way, of all partitions together. It grows by one for each window of quick answers,
//            and halves after a slow answer or none, at most once for the writes that were under way then (additive
//            increase, multiplicative decrease). Slow is longer than kSlowFactor times the quickest answer of the last
//            one to two minutes, and than kSlowLeastNs.
//
// Guarantees: within any time T, writes of at most rate * (T + kBurstNs) bytes and one more write begin, as far as the
// expected bytes are right. One write may always be under way, so that writing never stops.
// Threading: thread safe. Time is steady, and given by the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace bloomring {

class RedisPace {
 public:
  static constexpr int64_t kBurstNs = 100'000'000;
  static constexpr int64_t kSlowFactor = 4;
  static constexpr int64_t kSlowLeastNs = 20'000'000;
  static constexpr size_t kWindowFirst = 32;
  static constexpr size_t kWindowMost = 256;

  // `bytes_per_second` is that of the installation; 0: no bound but the window.
  RedisPace(uint64_t bytes_per_second, uint32_t partitions);

  // This process writes one partition more, or less.
  void take_partition();
  void leave_partition();

  // True: a write of so many expected bytes begins now, and is under way until `end`.
  bool begin(uint64_t expected_bytes, int64_t now_ns);
  void correct(uint64_t expected_bytes, uint64_t bytes);
  // `begun_ns`: when the servers got the part of it that is timed. What ends `untimed` teaches nothing.
  void end(int64_t begun_ns, int64_t now_ns, bool answered);
  void end_untimed();

  size_t window() const;
  size_t under_way() const;

 private:
  void fill(int64_t now_ns);
  bool is_slow(int64_t took_ns, int64_t now_ns);
  double bytes_per_ns() const;

  const double installation_bytes_per_ns_;
  const uint32_t partitions_;
  mutable std::mutex mutex_;
  uint32_t taken_ = 0;
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

// A partition that this process writes, as the pace counts it.
class RedisPaceShare {
 public:
  explicit RedisPaceShare(RedisPace& pace) : pace_(pace) { pace_.take_partition(); }
  ~RedisPaceShare() { pace_.leave_partition(); }
  RedisPaceShare(const RedisPaceShare&) = delete;
  RedisPaceShare& operator=(const RedisPaceShare&) = delete;

 private:
  RedisPace& pace_;
};

// A write under way: its place in the window, until it ends or is dropped.
class RedisPacePlace {
 public:
  // Null: not now. Shared by the callbacks of the write's requests.
  static std::shared_ptr<RedisPacePlace> begin(RedisPace& pace, uint64_t expected_bytes, int64_t now_ns);
  ~RedisPacePlace() { end_untimed(); }
  RedisPacePlace(const RedisPacePlace&) = delete;
  RedisPacePlace& operator=(const RedisPacePlace&) = delete;

  // Once it is known how many bytes are written.
  void correct(uint64_t bytes) { pace_.correct(expected_bytes_, bytes); }
  void end(int64_t begun_ns, int64_t now_ns, bool answered);
  void end_untimed();

 private:
  RedisPacePlace(RedisPace& pace, uint64_t expected_bytes) : pace_(pace), expected_bytes_(expected_bytes) {}
  RedisPace& pace_;
  const uint64_t expected_bytes_;
  bool ended_ = false;
};

}  // namespace bloomring
