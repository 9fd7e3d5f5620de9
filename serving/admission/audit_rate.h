// The lines a second that the log has about denied calls: a client may ask without end, and is denied each time.
//
// Guarantees: at most kAuditLinesPerSecond lines in each second. Whatever has no line is counted in the next one.
// Threading: thread safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace bloomring {

inline constexpr int kAuditLinesPerSecond = 10;

class AuditRate {
 public:
  // At this time of a steady clock: how many had no line since the last one, where this one has a line.
  std::optional<uint64_t> line_at(int64_t now_ns) {
    constexpr int64_t kSecondNs = 1'000'000'000;
    const std::lock_guard lock(mutex_);
    if (!began_ns_ || now_ns - *began_ns_ >= kSecondNs) {
      began_ns_ = now_ns;
      lines_ = 0;
    }
    if (lines_ >= kAuditLinesPerSecond) {
      ++without_;
      return std::nullopt;
    }
    ++lines_;
    return std::exchange(without_, 0);
  }

 private:
  std::mutex mutex_;
  std::optional<int64_t> began_ns_;
  int lines_ = 0;  // Since then.
  uint64_t without_ = 0;
};

}  // namespace bloomring
