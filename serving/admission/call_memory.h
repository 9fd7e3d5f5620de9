// The memory that requests and their answers may take at once. A call takes its share before its message is parsed,
// and gives it back when its answer was handed to gRPC.
//
// Guarantees:
// - The shares never add up to more than `bytes_max`.
// - A caller that has a share gets no more than it leaves free: alone half of the memory, a third next to another that
//   takes all it can. Its first share may be all. An answer holds its share until the client has read it, and a client
//   may read as slowly as it likes: so one that does not read keeps no other caller from room.
// Threading: thread safe. The memory outlives its shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/scatter.h"

namespace bloomring {

class CallMemory {
 public:
  // `given_back` is called after each share that comes back, on its thread.
  explicit CallMemory(size_t bytes_max, std::function<void()> given_back = {})
      : bytes_max_(bytes_max), given_back_(std::move(given_back)) {}

  // Given back by its destructor.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept { *this = std::move(other); }
    Share& operator=(Share&& other) noexcept {
      std::swap(memory_, other.memory_);
      std::swap(bytes_, other.bytes_);
      std::swap(caller_, other.caller_);
      return *this;
    }
    ~Share() {
      if (memory_ != nullptr) memory_->give_back(bytes_, caller_);
    }

   private:
    friend class CallMemory;
    Share(CallMemory& memory, size_t bytes, uint64_t caller) : memory_(&memory), bytes_(bytes), caller_(caller) {}
    CallMemory* memory_ = nullptr;
    size_t bytes_ = 0;
    uint64_t caller_ = 0;
  };

  // Nothing when less than `bytes` are left, or the caller would have more than it leaves. Nobody in particular, 0, may
  // have all.
  std::optional<Share> take(size_t bytes, uint64_t caller = 0);
  // Whether these bytes are more than the caller may have now, though others could have them.
  bool has_its_part(size_t bytes, uint64_t caller) const;
  size_t taken() const;
  size_t bytes_max() const { return bytes_max_; }

 private:
  bool beyond_its_part(size_t bytes, uint64_t caller) const;  // With the lock held.
  void give_back(size_t bytes, uint64_t caller);

  const size_t bytes_max_;
  const std::function<void()> given_back_;
  mutable std::mutex mutex_;  // Guards the rest.
  size_t taken_ = 0;
  std::unordered_map<uint64_t, size_t, Scattered> taken_by_;  // Of callers with a share.
};

}  // namespace bloomring
