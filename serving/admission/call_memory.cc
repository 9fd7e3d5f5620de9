#include "serving/admission/call_memory.h"

namespace bloomring {

std::optional<CallMemory::Share> CallMemory::take(size_t bytes) {
  size_t taken = taken_.load();
  do {
    if (bytes > bytes_max_ - taken) return std::nullopt;
  } while (!taken_.compare_exchange_weak(taken, taken + bytes));
  return Share(*this, bytes);
}

void CallMemory::give_back(size_t bytes) {
  taken_ -= bytes;
  if (given_back_) given_back_();
}

}  // namespace bloomring
