#include "pipeline/kafka/ack_list.h"

#include <utility>

namespace bloomring::kafka {

void AckList::add(std::span<const uint64_t> tickets) {
  const std::lock_guard lock(mutex_);
  tickets_.insert(tickets_.end(), tickets.begin(), tickets.end());
}

void AckList::fail(Status failure) {
  const std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = std::move(failure);
}

Status AckList::take(std::vector<uint64_t>& tickets) {
  const std::lock_guard lock(mutex_);
  tickets.insert(tickets.end(), tickets_.begin(), tickets_.end());
  tickets_.clear();
  return failure_;
}

}  // namespace bloomring::kafka
