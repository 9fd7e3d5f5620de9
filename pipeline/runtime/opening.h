// Reports to the log and /readyz which partition a stage is opening. After an assignment a stage opens its partitions
// one after another, before their first steps, which takes long with many local files or a slow disk.
//
// Threading: thread safe: while one thread opens, another one reports. Times are steady nanoseconds.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace bloomring {

class Opening {
 public:
  static constexpr int64_t kSilentNs = 3'000'000'000;  // Most openings are over by then.
  static constexpr int64_t kLogIntervalNs = 10'000'000'000;

  // `what` says what the stage does to a partition: "opens its local state".
  explicit Opening(std::string what) : what_(std::move(what)) {}

  // Begins to open the partition, "user-events[12]".
  void begin(const std::string& partition, int64_t now_ns);
  // The partition is open, or opening it failed.
  void end();
  // All partitions of this assignment are open.
  void all_done();

  // "opens its local state of user-events[12], after 3 other partitions"; empty while nothing is opened.
  std::string doing() const;
  // The same with the time taken so far, when a log line is due: after kSilentNs, then every kLogIntervalNs.
  std::optional<std::string> due(int64_t now_ns);

 private:
  std::string text() const;

  const std::string what_;
  mutable std::mutex mutex_;
  std::string partition_;  // Empty between two partitions.
  uint64_t opened_ = 0;
  std::optional<int64_t> since_ns_;
  int64_t log_at_ns_ = 0;
};

}  // namespace bloomring
