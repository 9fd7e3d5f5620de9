// The log of a running process, for its admin port: the level, which can be changed, and the last warnings and errors.
// base/log.h, which every room includes, has the rest.
//
// Guarantees: the lines are bounded in number and size. Noting and reading a line never wait for standard error.
// Threading: thread safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bloomring {

enum class LogLevel : uint8_t;

// The lowest level that is written.
LogLevel log_level();
// From the next line on.
void set_log_level(LogLevel level);

// A warning or an error that was logged lately, once or more often. Of its fields it keeps those that name a place or a
// cause (`stage`, `topic`, `reason` and the like), and none that could name a user or a caller.
struct RecentLine {
  bool error = false;   // Else a warning.
  std::string message;  // One line, at most kRecentTextBytesMax bytes, as `fields`.
  std::string fields;   // "stage=window partition=3"
  std::string first;    // "2026-11-02T10:15:00.123Z"
  std::string last;
  uint64_t count = 1;
};
inline constexpr size_t kRecentLinesMax = 50;
inline constexpr size_t kRecentTextBytesMax = 400;

// The newest first; a line that was repeated is one entry. Shown or not: the level of the log does not matter.
std::vector<RecentLine> recent_log_lines();

}  // namespace bloomring
