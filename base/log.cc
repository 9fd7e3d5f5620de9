#include "base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>

namespace bloomring {
namespace {

// What the log of the process is; see the header for why it is global.
struct ProcessLog {
  std::atomic<LogLevel> level = LogLevel::kInfo;
  std::atomic<LogFormat> format = LogFormat::kText;
  std::array<std::atomic<uint64_t>, kLogLevelCount> lines{};
  spdlog::sinks::stderr_sink_mt sink;
  spdlog::pattern_formatter time{"%Y-%m-%dT%H:%M:%S.%eZ", spdlog::pattern_time_type::utc, ""};
  std::mutex time_mutex;

  ProcessLog() { sink.set_pattern("%v"); }

  std::string now() {
    const spdlog::details::log_msg moment("", spdlog::level::info, "");
    spdlog::memory_buf_t text;
    const std::lock_guard lock(time_mutex);
    time.format(moment, text);
    return fmt::to_string(text);
  }
};

ProcessLog& process_log() {
  static ProcessLog& log = *new ProcessLog;  // Never destroyed: other statics may log while they end.
  return log;
}

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Values with a space, a quotation mark or a control character are written as a JSON string.
std::string text_value(const LogField& field) {
  const auto plain = [](char c) { return static_cast<unsigned char>(c) > ' ' && c != '"' && c != '='; };
  const bool bare = !field.text.empty() && std::all_of(field.text.begin(), field.text.end(), plain);
  return !field.quoted || bare ? field.text : json_string(field.text);
}

std::string one_line(std::string_view text) {
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
}

std::string format_log_line(LogFormat format, std::string_view time, LogLevel level, std::string_view message,
                            std::initializer_list<LogField> fields) {
  std::string line;
  if (format == LogFormat::kText) {
    line.append(time).append(" ").append(log_level_name(level)).append(" ").append(one_line(message));
    for (const LogField& field : fields) line.append(" ").append(field.name).append("=").append(text_value(field));
    return line;
  }
  line.append(R"({"time":")").append(time).append(R"(","level":")").append(log_level_name(level));
  line.append(R"(","message":)").append(json_string(message));
  for (const LogField& field : fields) {
    line.append(",")
        .append(json_string(field.name))
        .append(":")
        .append(field.quoted ? json_string(field.text) : field.text);
  }
  return line + "}";
}

void log_line(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  ProcessLog& log = process_log();
  log.lines[static_cast<size_t>(level)].fetch_add(1, std::memory_order_relaxed);
  if (level < log.level.load(std::memory_order_relaxed)) return;
  const std::string line = format_log_line(log.format, log.now(), level, message, fields);
  log.sink.log(spdlog::details::log_msg("", spdlog::level::info, line));
  log.sink.flush();
}

uint64_t log_lines(LogLevel level) {
  return process_log().lines[static_cast<size_t>(level)].load(std::memory_order_relaxed);
}

}  // namespace bloomring
