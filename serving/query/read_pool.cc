#include "serving/query/read_pool.h"

#include "base/result.h"

namespace bloomring {

ReadPool::ReadPool(size_t threads, size_t queued_max) : queued_max_(queued_max) {
  BLOOMRING_CHECK(threads > 0 && queued_max > 0, "a pool reads");
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

ReadPool::~ReadPool() {
  std::deque<std::shared_ptr<PendingRead>> left;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    left.swap(queue_);
  }
  changed_.notify_all();
  for (const auto& read : left) read->refuse();
  for (std::thread& thread : threads_) thread.join();
}

void ReadPool::submit(std::shared_ptr<PendingRead> read) {
  std::shared_ptr<PendingRead> refused;
  {
    std::lock_guard lock(mutex_);
    if (stopping_) {
      refused = std::move(read);
    } else {
      queue_.push_back(std::move(read));
      if (queue_.size() > queued_max_) {
        refused = std::move(queue_.front());
        queue_.pop_front();
      }
    }
    refused_ += refused ? 1 : 0;
  }
  changed_.notify_one();
  if (refused) refused->refuse();
}

uint64_t ReadPool::refused() const {
  std::lock_guard lock(mutex_);
  return refused_;
}

void ReadPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const std::shared_ptr<PendingRead> read = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    if (read->wanted()) read->run();
    lock.lock();
  }
}

}  // namespace bloomring
