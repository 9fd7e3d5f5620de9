#include "pipeline/kafka/consumer/commit_board.h"

#include <utility>

namespace bloomring::kafka {

void CommitBoard::record(const TopicPartition& at, Offset next) {
  const std::lock_guard lock(mutex_);
  commits_.insert_or_assign(at, next);
}

CommitBoard::Commits CommitBoard::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(commits_, {});
}

void CommitBoard::put_back(const TopicPartition& at, Offset next) {
  const std::lock_guard lock(mutex_);
  commits_.emplace(at, next);
}

void CommitBoard::clear() {
  const std::lock_guard lock(mutex_);
  commits_.clear();
}

}  // namespace bloomring::kafka
