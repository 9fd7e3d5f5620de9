// Tells the log and /readyz which partition a stage is opening. After an assignment a stage opens its partitions one
// after another, before their first steps. Local state with many files, or a slow disk, makes that long.
//
// Threading: thread safe: the thread that opens is busy, another one tells. Times are steady nanoseconds.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace bloomring {

class Opening {
 public:
  static constexpr int64_t kSilentNs = 3'000'000'000;  // Most openings are over by then.
  static constexpr int64_t kTellIntervalNs = 10'000'000'000;

  // `what` of a partition is done: "opens its local state".
  explicit Opening(std::string what) : what_(std::move(what)) {}

  // The next partition's turn, "user-events[12]".
  void begin(const std::string& partition, int64_t now_ns);
  // It is open, or failed to be.
  void end();
  // All of this assignment are open.
  void all_done();

  // "opens its local state of user-events[12], after 3 other partitions"; empty while nothing is opened.
  std::string doing() const;
  // The same with the time that all took so far, when it is to be logged: after kSilentNs, then every kTellIntervalNs.
  std::optional<std::string> due(int64_t now_ns);

 private:
  std::string text() const;

  const std::string what_;
  mutable std::mutex mutex_;
  std::string partition_;  // Empty between two.
  uint64_t opened_ = 0;
  std::optional<int64_t> since_ns_;
  int64_t tell_at_ns_ = 0;
};

}  // namespace bloomring
