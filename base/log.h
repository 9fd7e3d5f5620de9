// Logs of the process: one line each, on standard error, as text for people or as JSON for machines.
//
//   log_info("partition assigned", {{"partition", 3}, {"offset", 17}});
//   2026-11-02T10:15:00.123Z info partition assigned partition=3 offset=17
//   {"time":"2026-11-02T10:15:00.123Z","level":"info","message":"partition assigned","partition":3,"offset":17}
//
// Fields have the same names everywhere: `stage`, `topic`, `partition`, `offset`, `code` (of a Status), `reason` (its
// message), `client` and `event` (a Kafka client, and librdkafka's word for the event), `file` and `line` (gRPC's).
// Guarantees: a shown line is exactly one line, whatever its text holds. JSON lines are valid JSON (bytes that are not
// UTF-8 become U+FFFD), and their messages have no line breaks. log_lines counts the lines of each level, shown or not.
// The log belongs to the process, so it is the one global of bloomring. Until log_start it is text at level info. After
// log_start, messages through spdlog itself (spdlog::info) are lines of this log too.
// Threading: thread safe; log_start is called once, before other threads are made.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace bloomring {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError };
enum class LogFormat : uint8_t { kText, kJson };
inline constexpr size_t kLogLevelCount = 4;

std::string_view log_level_name(LogLevel level);  // "debug", "info", "warning", "error".

// A named value next to the message. Names are words in snake case, chosen by us.
class LogField {
 public:
  LogField(std::string_view field, std::string_view value) : name(field), text(value), quoted(true) {}
  LogField(std::string_view field, const std::string& value) : LogField(field, std::string_view(value)) {}
  LogField(std::string_view field, const char* value) : LogField(field, std::string_view(value)) {}
  LogField(std::string_view field, bool value) : name(field), text(value ? "true" : "false") {}
  template <std::integral Int>
  LogField(std::string_view field, Int value) : name(field), text(std::to_string(value)) {}
  LogField(std::string_view field, double value);

  std::string_view name;
  std::string text;
  bool quoted = false;
};

void log_start(LogLevel level, LogFormat format);
LogFormat log_format();  // Of log_start.
void log_line(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

inline void log_debug(std::string_view message, std::initializer_list<LogField> fields = {}) {
  log_line(LogLevel::kDebug, message, fields);
}
inline void log_info(std::string_view message, std::initializer_list<LogField> fields = {}) {
  log_line(LogLevel::kInfo, message, fields);
}
inline void log_warning(std::string_view message, std::initializer_list<LogField> fields = {}) {
  log_line(LogLevel::kWarning, message, fields);
}
inline void log_error(std::string_view message, std::initializer_list<LogField> fields = {}) {
  log_line(LogLevel::kError, message, fields);
}

// Lines logged so far at this level, for bloomring_log_messages_total.
uint64_t log_lines(LogLevel level);

// The line without its end, as it would be written; for log_line and tests. `time` is "2026-11-02T10:15:00.123Z".
std::string format_log_line(LogFormat format, std::string_view time, LogLevel level, std::string_view message,
                            std::initializer_list<LogField> fields);

}  // namespace bloomring
