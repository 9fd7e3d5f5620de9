#include "pipeline/shadow/query_queue.h"

#include <utility>

namespace bloomring {

namespace {

size_t bytes_of(const FilterCall& query) {
  size_t bytes = sizeof query + query.user.size() + query.scene.size();
  for (const std::string& item : query.items) bytes += sizeof item + item.size();
  return bytes;
}

}  // namespace

void QueryQueue::push(FilterCall query) {
  const size_t bytes = bytes_of(query);
  const std::lock_guard lock(mutex_);
  if (queries_.size() >= kQueriesMax || bytes_ + bytes > kBytesMax) {
    ++dropped_;
    return;
  }
  bytes_ += bytes;
  queries_.push_back(std::move(query));
}

Result<std::optional<FilterCall>> QueryQueue::next() {
  const std::lock_guard lock(mutex_);
  if (queries_.empty()) return std::optional<FilterCall>();
  FilterCall query = std::move(queries_.front());
  queries_.pop_front();
  bytes_ -= bytes_of(query);
  return std::optional<FilterCall>(std::move(query));
}

}  // namespace bloomring
