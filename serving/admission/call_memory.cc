#include "serving/admission/call_memory.h"

namespace bloomring {

std::optional<CallMemory::Share> CallMemory::take(size_t bytes, uint64_t caller) {
  const std::lock_guard lock(mutex_);
  if (bytes > bytes_max_ - taken_ || beyond_its_part(bytes, caller)) return std::nullopt;
  taken_ += bytes;
  if (caller != 0 && bytes > 0) taken_by_[caller] += bytes;
  return Share(*this, bytes, caller);
}

bool CallMemory::has_its_part(size_t bytes, uint64_t caller) const {
  const std::lock_guard lock(mutex_);
  return beyond_its_part(bytes, caller);
}

bool CallMemory::beyond_its_part(size_t bytes, uint64_t caller) const {
  const auto own = taken_by_.find(caller);
  const size_t left = bytes_max_ - taken_;
  return own != taken_by_.end() && (own->second > left || bytes > left - own->second);
}

size_t CallMemory::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

void CallMemory::give_back(size_t bytes, uint64_t caller) {
  {
    const std::lock_guard lock(mutex_);
    taken_ -= bytes;
    const auto own = taken_by_.find(caller);
    if (own != taken_by_.end() && (own->second -= bytes) == 0) taken_by_.erase(own);
  }
  if (given_back_) given_back_();
}

}  // namespace bloomring
