// A few threads that read the filter store for requests, behind a bounded queue. The only place in serving/ that makes
// threads.
//
// The queue is first in, first out. When it is full, the pool refuses the oldest read: its caller has waited longest
// and is the likeliest to have given up. The pool skips a read that no caller waits for.
// Threading: thread safe. The destructor refuses the queued reads and waits for the running ones.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace bloomring {

class PendingRead {
 public:
  virtual ~PendingRead() = default;
  virtual bool wanted() const = 0;  // False when its caller already has an answer.
  virtual void run() = 0;           // On a thread of the pool; may block.
  virtual void refuse() = 0;        // Instead of `run`, on any thread.
};

class ReadPool {
 public:
  // `queued_max` is at least 1.
  ReadPool(size_t threads, size_t queued_max);
  ~ReadPool();

  // Shared, because the caller answers without the read when it takes too long.
  void submit(std::shared_ptr<PendingRead> read);
  uint64_t refused() const;

 private:
  void work();

  const size_t queued_max_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<PendingRead>> queue_;
  uint64_t refused_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;  // Last: they use the rest.
};

}  // namespace bloomring
