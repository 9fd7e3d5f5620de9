#include "base/log.h"

#include <spdlog/details/null_mutex.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/check_report.h"
#include "base/running_log.h"
#include "base/words.h"

namespace bloomring {
namespace {

std::string text_value(const LogField& field);

// The time of now.
class LogTime {
 public:
  std::string text() {
    spdlog::memory_buf_t text;
    formatter_.format(spdlog::details::log_msg("", spdlog::level::info, ""), text);
    return fmt::to_string(text);
  }

 private:
  spdlog::pattern_formatter formatter_{"%Y-%m-%dT%H:%M:%S.%eZ", spdlog::pattern_time_type::utc, ""};
};

// Fields of recent lines; see RecentLine. `user`, `caller` and `peer` are none of them.
constexpr std::array<std::string_view, 16> kRecentFields = {
    "stage", "topic", "partition", "offset", "code",  "reason", "client", "event",
    "group", "file",  "line",      "page",   "store", "seconds", "records", "refused"};

// The last warnings and errors, newest first. Its mutex is its own: that of the log is held while standard error hangs.
class RecentLines {
 public:
  void note(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
    RecentLine line{level == LogLevel::kError, one_line(message).substr(0, kRecentTextBytesMax), shown(fields), {}, {}};
    const std::lock_guard lock(mutex_);
    line.first = line.last = time_.text();
    const auto same = std::find_if(lines_.begin(), lines_.end(), [&](const RecentLine& other) {
      return other.error == line.error && other.message == line.message && other.fields == line.fields;
    });
    if (same == lines_.end()) {
      if (lines_.size() == kRecentLinesMax) lines_.pop_back();
    } else {
      line.first = same->first;
      line.count = same->count + 1;
      lines_.erase(same);
    }
    lines_.insert(lines_.begin(), std::move(line));
  }
  std::vector<RecentLine> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  static std::string shown(std::initializer_list<LogField> fields) {
    std::string text;
    for (const LogField& field : fields) {
      if (std::find(kRecentFields.begin(), kRecentFields.end(), field.name) == kRecentFields.end()) continue;
      text.append(text.empty() ? "" : " ").append(field.name).append("=").append(text_value(field));
    }
    return text.substr(0, kRecentTextBytesMax);
  }

  std::mutex mutex_;
  LogTime time_;
  std::vector<RecentLine> lines_;
};

// The state of the log; the header says why it is global.
struct ProcessLog {
  std::atomic<LogLevel> level = LogLevel::kInfo;
  std::atomic<LogFormat> format = LogFormat::kText;
  std::array<std::atomic<uint64_t>, kLogLevelCount> lines{};

  RecentLines recent;

  std::mutex mutex;  // Guards the time and keeps lines whole.
  LogTime time;

  // Counts the line, shown or not.
  void note(LogLevel line_level, std::string_view message, std::initializer_list<LogField> fields) {
    lines[static_cast<size_t>(line_level)].fetch_add(1, std::memory_order_relaxed);
    if (line_level >= LogLevel::kWarning) recent.note(line_level, message, fields);
  }
  void write(LogLevel line_level, std::string_view message, std::initializer_list<LogField> fields) {
    note(line_level, message, fields);
    if (line_level >= level.load(std::memory_order_relaxed)) write_shown(line_level, message, fields);
  }
  void write_shown(LogLevel line_level, std::string_view message, std::initializer_list<LogField> fields) {
    const std::lock_guard lock(mutex);
    const std::string line = format_log_line(format, time.text(), line_level, message, fields) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
};

ProcessLog& process_log() {
  static ProcessLog& log = *new ProcessLog;  // Never destroyed: other statics may log while they end.
  return log;
}

LogLevel level_of(spdlog::level::level_enum level) {
  if (level <= spdlog::level::debug) return LogLevel::kDebug;
  if (level == spdlog::level::info) return LogLevel::kInfo;
  return level == spdlog::level::warn ? LogLevel::kWarning : LogLevel::kError;
}

// Receives messages to spdlog's default logger (spdlog::info and so on), which would go to standard output.
class ProcessSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    process_log().write(level_of(message.level), {message.payload.data(), message.payload.size()}, {});
  }
  void flush_() override {}
};

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Values with a space, a quotation mark or a control character are written as a JSON string.
std::string text_value(const LogField& field) {
  const auto plain = [](char c) { return static_cast<unsigned char>(c) > ' ' && c != '"' && c != '='; };
  const bool bare = !field.text.empty() && std::all_of(field.text.begin(), field.text.end(), plain);
  return !field.quoted || bare ? field.text : json_string(field.text);
}

}  // namespace

LogField::LogField(std::string_view field, double value) : name(field), text(nlohmann::json(value).dump()) {}

std::string_view log_level_name(LogLevel level) {
  constexpr std::array<std::string_view, kLogLevelCount> kNames = {"debug", "info", "warning", "error"};
  return kNames[static_cast<size_t>(level)];
}

void log_start(LogLevel level, LogFormat format) {
  process_log().level = level;
  process_log().format = format;
  set_check_report([](std::string_view message, const char* file, int line_number) {
    log_error(message, {{"file", file}, {"line", line_number}});
  });
  auto logger = std::make_shared<spdlog::logger>("bloomring", std::make_shared<ProcessSink>());
  logger->set_level(spdlog::level::debug);
  spdlog::set_default_logger(std::move(logger));
}

LogFormat log_format() { return process_log().format; }

LogLevel log_level() { return process_log().level; }

void set_log_level(LogLevel level) { process_log().level = level; }

std::string format_log_line(LogFormat format, std::string_view time, LogLevel level, std::string_view message,
                            std::initializer_list<LogField> fields) {
  std::string line;
  if (format == LogFormat::kText) {
    line.append(time).append(" ").append(log_level_name(level)).append(" ").append(one_line(message));
    for (const LogField& field : fields) line.append(" ").append(field.name).append("=").append(text_value(field));
    return line;
  }
  line.append(R"({"time":")").append(time).append(R"(","level":")").append(log_level_name(level));
  line.append(R"(","message":)").append(json_string(one_line(message)));
  for (const LogField& field : fields) {
    line.append(",")
        .append(json_string(field.name))
        .append(":")
        .append(field.quoted ? json_string(field.text) : field.text);
  }
  return line + "}";
}

void log_line(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  process_log().write(level, message, fields);
}

void log_audit(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  const std::string line = "audit: " + std::string(message);
  process_log().note(level, line, fields);
  process_log().write_shown(level, line, fields);
}

std::vector<RecentLine> recent_log_lines() { return process_log().recent.lines(); }

uint64_t log_lines(LogLevel level) {
  return process_log().lines[static_cast<size_t>(level)].load(std::memory_order_relaxed);
}

}  // namespace bloomring
