// The memory that requests and their answers may take at once. A call takes its share before its message is parsed,
// and gives it back when its answer was handed to gRPC.
//
// Guarantees: the shares never add up to more than `bytes_max`.
// Threading: thread safe. The memory outlives its shares.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

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
      return *this;
    }
    ~Share() {
      if (memory_ != nullptr) memory_->give_back(bytes_);
    }

   private:
    friend class CallMemory;
    Share(CallMemory& memory, size_t bytes) : memory_(&memory), bytes_(bytes) {}
    CallMemory* memory_ = nullptr;
    size_t bytes_ = 0;
  };

  // Nothing when less than `bytes` are left.
  std::optional<Share> take(size_t bytes);
  size_t taken() const { return taken_; }
  size_t bytes_max() const { return bytes_max_; }

 private:
  void give_back(size_t bytes);

  const size_t bytes_max_;
  const std::function<void()> given_back_;
  std::atomic<size_t> taken_{0};
};

}  // namespace bloomring
