// The log of a running process: the level, which can be changed, the last warnings and errors, and lines about who did
// what. base/log.h, which every room includes, has the rest.
//
// Guarantees: the lines are bounded in number and size. Noting and reading a line never wait for standard error.
// Threading: thread safe.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace bloomring {

enum class LogLevel : uint8_t;
class LogField;

// The lowest level that is written.
LogLevel log_level();
// From the next line on.
void set_log_level(LogLevel level);

// A line about who did what: a forget, an action of the admin port, a new list of who may call. It begins with
// "audit: " and is written whatever the level of the log is. So nobody who may lower the level hides what was done
// meanwhile, and a site with `log.level: error` still knows who erased a user. `level` is the level that the line has
// and counts at.
void log_audit(LogLevel level, std::string_view message, std::initializer_list<LogField> fields);

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
