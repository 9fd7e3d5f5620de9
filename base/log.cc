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
#include "base/log_control.h"

namespace bloomring {
namespace {

// The state of the log; the header says why it is global.
struct ProcessLog {
  std::atomic<LogLevel> level = LogLevel::kInfo;
  std::atomic<LogFormat> format = LogFormat::kText;
  std::array<std::atomic<uint64_t>, kLogLevelCount> lines{};

  std::mutex mutex;  // Guards the formatter and keeps lines whole.
  spdlog::pattern_formatter time{"%Y-%m-%dT%H:%M:%S.%eZ", spdlog::pattern_time_type::utc, ""};

  void write(LogLevel line_level, std::string_view message, std::initializer_list<LogField> fields) {
    lines[static_cast<size_t>(line_level)].fetch_add(1, std::memory_order_relaxed);
    if (line_level < level.load(std::memory_order_relaxed)) return;
    const std::lock_guard lock(mutex);
    const std::string line = format_log_line(format, now(), line_level, message, fields) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
  }

 private:
  std::string now() {
    spdlog::memory_buf_t text;
    time.format(spdlog::details::log_msg("", spdlog::level::info, ""), text);
    return fmt::to_string(text);
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

// The text without trailing line breaks, with which libraries end their messages.
std::string one_line(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return line;
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

uint64_t log_lines(LogLevel level) {
  return process_log().lines[static_cast<size_t>(level)].load(std::memory_order_relaxed);
}

}  // namespace bloomring
