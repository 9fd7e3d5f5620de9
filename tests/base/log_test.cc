#include "base/log.h"

#include <spdlog/spdlog.h>

#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>

using namespace bloomring;

namespace {
constexpr const char* kTime = "2026-11-02T10:15:00.123Z";
}

TEST_CASE("log: a text line has time, level, message and fields") {
  CHECK(format_log_line(LogFormat::kText, kTime, LogLevel::kInfo, "partition assigned",
                        {{"partition", 3}, {"ready", true}, {"topic", "a"}, {"reason", "two words"}, {"empty", ""}}) ==
        "2026-11-02T10:15:00.123Z info partition assigned partition=3 ready=true topic=a reason=\"two words\" "
        "empty=\"\"");
}

TEST_CASE("log: a text line stays one line whatever it holds") {
  const std::string line =
      format_log_line(LogFormat::kText, kTime, LogLevel::kError, "a\nb", {{"reason", "c\nd"}, {"x", "e=\"f\""}});
  CHECK(line == "2026-11-02T10:15:00.123Z error a b reason=\"c\\nd\" x=\"e=\\\"f\\\"\"");
}

TEST_CASE("log: a JSON line is valid JSON whatever it holds") {
  const std::string line = format_log_line(LogFormat::kJson, kTime, LogLevel::kWarning, "say \"hi\"\n\xff",
                                           {{"offset", 17}, {"ratio", 0.5}, {"path", "a\\b"}, {"up", false}});
  CHECK(line.find('\n') == std::string::npos);
  const auto json = nlohmann::json::parse(line);
  CHECK(json["time"] == kTime);
  CHECK(json["level"] == "warning");
  CHECK(json["message"] == "say \"hi\" \xef\xbf\xbd");
  CHECK(json["offset"] == 17);
  CHECK(json["ratio"] == 0.5);
  CHECK(json["path"] == "a\\b");
  CHECK(json["up"] == false);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(nlohmann::json::parse(format_log_line(LogFormat::kJson, kTime, LogLevel::kInfo, "m", {{"x", nan}}))["x"]
            .is_null());
}

TEST_CASE("log: a message of a library keeps no line break, inside or at its end") {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    const std::string line = format_log_line(format, kTime, LogLevel::kError, "Cannot clear\r\nhard error\n\n", {});
    CHECK(line.find("Cannot clear  hard error") != std::string::npos);
    CHECK(line.find("\\n") == std::string::npos);
  }
}

TEST_CASE("log: lines are counted by level, shown or not") {
  const uint64_t before = log_lines(LogLevel::kDebug);
  log_debug("not shown at level info");
  CHECK(log_lines(LogLevel::kDebug) == before + 1);
}

TEST_CASE("log: what is said through spdlog is a line of the log") {
  log_start(LogLevel::kInfo, LogFormat::kText);
  const uint64_t before = log_lines(LogLevel::kDebug);
  spdlog::debug("not shown at level info, {}", "but counted");
  CHECK(log_lines(LogLevel::kDebug) == before + 1);
}
