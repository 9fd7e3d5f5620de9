#include "state/store/pooled_filter_reader.h"

namespace bloomring {

PooledFilterReader::PooledFilterReader(FilterReader& reader, const FilterReadPool& pool)
    : reader_(reader), queue_(pool.queued_max) {
  BLOOMRING_CHECK(pool.threads > 0, "a pool reads");
  for (size_t i = 0; i < pool.threads; ++i) threads_.emplace_back([this] { work(); });
}

PooledFilterReader::~PooledFilterReader() {
  std::vector<std::shared_ptr<FilterRead>> left;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    while (!queue_.empty()) left.push_back(queue_.pop());
  }
  changed_.notify_all();
  for (const auto& read : left) read->refuse();
  for (std::thread& thread : threads_) thread.join();
}

void PooledFilterReader::begin_read(std::shared_ptr<FilterRead> read) {
  std::shared_ptr<FilterRead> refused;
  {
    std::lock_guard lock(mutex_);
    if (stopping_) {
      refused = std::move(read);
    } else {
      refused = queue_.push(std::move(read));
      refused_ += refused ? 1 : 0;
    }
  }
  changed_.notify_one();
  if (refused) refused->refuse();
}

uint64_t PooledFilterReader::refused() const {
  std::lock_guard lock(mutex_);
  return refused_;
}

void PooledFilterReader::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    std::shared_ptr<FilterRead> read = queue_.pop();
    lock.unlock();
    if (read->wanted()) {
      reader_.begin_read(std::move(read));
    } else {
      read->refuse();
    }
    read.reset();
    lock.lock();
  }
}

}  // namespace bloomring
