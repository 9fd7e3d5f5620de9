#include "pipeline/kafka/producer/ack_list.h"

#include <algorithm>
#include <utility>

namespace bloomring::kafka {

void AckList::add(std::span<const uint64_t> tickets, int64_t broker_time_ms) {
  const std::lock_guard lock(mutex_);
  broker_time_ms_ = std::max(broker_time_ms_, broker_time_ms);
  tickets_.insert(tickets_.end(), tickets.begin(), tickets.end());
}

void AckList::fail(Status failure) {
  const std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = std::move(failure);
}

Status AckList::take(std::vector<uint64_t>& tickets, int64_t& broker_time_ms) {
  const std::lock_guard lock(mutex_);
  broker_time_ms = std::exchange(broker_time_ms_, 0);
  tickets.insert(tickets.end(), tickets_.begin(), tickets_.end());
  tickets_.clear();
  return failure_;
}

}  // namespace bloomring::kafka
