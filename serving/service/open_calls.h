// Counts the calls that are not answered yet, so that a server can end after the last of them.
//
//   begin --> (the call) --> end        close: from now on `begin` is refused; wait_until_none: until all have ended
//
// A call ends when its answer was handed to the kernel, not when the answer is known.
// Threading: thread safe; one thread waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace bloomring {

class OpenCalls {
 public:
  // Counts a call and returns true; after `close` returns false and counts nothing.
  bool begin();
  // To be called once for each `begin` that was true.
  void end();

  void close();
  bool closed() const { return closed_; }
  // After `close`: true when no call is open, false when `bound_ms` have passed before that.
  bool wait_until_none(int64_t bound_ms);

 private:
  std::atomic<int64_t> open_{0};
  std::atomic<bool> closed_{false};
  std::mutex mutex_;
  std::condition_variable none_;
};

}  // namespace bloomring
