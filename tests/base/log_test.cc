#include "base/log.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "base/running_log.h"

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

TEST_CASE("log: an audit line is written at every level, and no other line is that the level hides") {
  set_log_level(LogLevel::kError);
  std::FILE* const shown = std::tmpfile();
  REQUIRE(shown != nullptr);
  std::fflush(stderr);
  const int kept = ::dup(STDERR_FILENO);
  ::dup2(::fileno(shown), STDERR_FILENO);
  const uint64_t before = log_lines(LogLevel::kInfo);
  log_info("hidden");
  log_warning("hidden, too");
  log_audit(LogLevel::kInfo, "a forget", {{"user", "#17"}});
  log_audit(LogLevel::kWarning, "an action was refused", {{"status", 401}});
  std::fflush(stderr);
  ::dup2(kept, STDERR_FILENO);
  ::close(kept);
  set_log_level(LogLevel::kInfo);
  std::string text(4096, '\0');
  std::rewind(shown);
  text.resize(std::fread(text.data(), 1, text.size(), shown));
  std::fclose(shown);
  CHECK_THAT(text, Catch::Matches("\\S+ info audit: a forget user=#17\n"
                                  "\\S+ warning audit: an action was refused status=401\n"));
  CHECK(log_lines(LogLevel::kInfo) == before + 2);
  CHECK(recent_log_lines()[0].message == "audit: an action was refused");
}

TEST_CASE("log: the last warnings and errors are kept, newest first, and no other lines") {
  log_info("kept: not this one");
  log_warning("kept: first", {{"stage", "window"}, {"partition", 3}, {"reason", "two words"}});
  log_error("kept: second\nline");
  const std::vector<RecentLine> lines = recent_log_lines();
  REQUIRE(lines.size() >= 2);
  CHECK(lines[0].error);
  CHECK(lines[0].message == "kept: second line");
  CHECK_FALSE(lines[1].error);
  CHECK(lines[1].message == "kept: first");
  CHECK(lines[1].fields == "stage=window partition=3 reason=\"two words\"");
  CHECK(lines[1].first == lines[1].last);
  CHECK(lines[1].last.size() == std::string_view(kTime).size());
}

TEST_CASE("log: a repeated line is kept once, with its count, and is the newest again") {
  for (int i = 0; i < 3; ++i) {
    log_warning("repeated", {{"partition", 1}});
    log_warning("between the repeated ones");
  }
  log_warning("repeated", {{"partition", 2}});
  const std::vector<RecentLine> lines = recent_log_lines();
  CHECK(lines[0].fields == "partition=2");
  CHECK(lines[0].count == 1);
  CHECK(lines[1].message == "between the repeated ones");
  CHECK(lines[2].message == "repeated");
  CHECK(lines[2].count == 3);
  CHECK(lines[2].first <= lines[2].last);
}

TEST_CASE("log: recent lines are bounded in number and size") {
  for (int i = 0; i < 80; ++i) log_warning("bounded " + std::to_string(i) + std::string(500, 'x'));
  log_warning("fields", {{"reason", std::string(500, 'y')}});
  const std::vector<RecentLine> lines = recent_log_lines();
  CHECK(lines.size() == kRecentLinesMax);
  CHECK(lines[0].fields.size() == kRecentTextBytesMax);
  CHECK(lines[1].message.size() == kRecentTextBytesMax);
  CHECK(lines[1].message.starts_with("bounded 79"));
  CHECK(lines.back().message.starts_with("bounded 31"));
}

TEST_CASE("log: recent lines name no user and no caller") {
  log_warning("audit: a call was refused", {{"user", "u17"}, {"caller", "ipv4:10.0.0.7:999"}, {"peer", "10.0.0.7"},
                                            {"item", "v4711"}, {"status", 16}, {"stage", "serve"}});
  CHECK(recent_log_lines()[0].fields == "stage=serve");
}
