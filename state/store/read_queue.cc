#include "state/store/read_queue.h"

#include <algorithm>

namespace bloomring {

ReadQueue::ReadQueue(size_t reads_max) : reads_max_(reads_max) {
  BLOOMRING_CHECK(reads_max > 0, "a queue has room for a read");
}

std::shared_ptr<FilterRead> ReadQueue::push(std::shared_ptr<FilterRead> read) {
  const uint64_t id = read->caller();
  const auto [known, is_new] = by_caller_.try_emplace(id);
  if (is_new) known->second = turns_.insert(turns_.end(), Caller{id});
  known->second->reads.push_back(std::move(read));
  if (++reads_ <= reads_max_) return nullptr;
  return take_oldest(std::ranges::max_element(turns_, {}, [](const Caller& caller) { return caller.reads.size(); }));
}

std::shared_ptr<FilterRead> ReadQueue::pop() {
  const auto caller = turns_.begin();
  turns_.splice(turns_.end(), turns_, caller);
  return take_oldest(caller);
}

std::shared_ptr<FilterRead> ReadQueue::take_oldest(Callers::iterator caller) {
  std::shared_ptr<FilterRead> read = std::move(caller->reads.front());
  caller->reads.pop_front();
  --reads_;
  if (caller->reads.empty()) {
    by_caller_.erase(caller->id);
    turns_.erase(caller);
  }
  return read;
}

}  // namespace bloomring
