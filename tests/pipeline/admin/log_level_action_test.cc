#include "pipeline/admin/log_level_action.h"

#include <catch2/catch.hpp>

#include "base/running_log.h"
#include "tests/support/manual_clock.h"

using namespace bloomring;

namespace {

// The pages and actions of a process with this log.level, called without their port.
struct Admin {
  explicit Admin(LogLevel configured) {
    set_log_level(configured);
    add_log_level(pages, actions, configured, clock);
  }
  ~Admin() { set_log_level(LogLevel::kInfo); }
  std::string shown() const { return pages.at(kLogLevelPath)().body; }
  AdminPage act(const std::string& to) const { return actions.by_path.at(kLogLevelPath + ("/" + to))(); }
  // After the interval.
  std::string change(const std::string& to) {
    clock.advance_ms(kLogLevelIntervalMs);
    return act(to).body;
  }

  ManualClock clock{1'700'000'000'000};
  AdminPages pages;
  AdminActions actions;
};

}  // namespace

TEST_CASE("log level: the page tells the level in force and the configured one") {
  Admin admin(LogLevel::kWarning);
  CHECK(admin.shown() == "{\"level\":\"warning\",\"configured\":\"warning\"}\n");
  CHECK(admin.change("debug") == "{\"level\":\"debug\",\"configured\":\"warning\"}\n");
  CHECK(admin.shown() == "{\"level\":\"debug\",\"configured\":\"warning\"}\n");
}

TEST_CASE("log level: an action for each level sets it, and one goes back to the configured level") {
  Admin admin(LogLevel::kInfo);
  CHECK(admin.actions.by_path.size() == kLogLevelCount + 1);
  for (const LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError}) {
    admin.change(std::string(log_level_name(level)));
    CHECK(log_level() == level);
  }
  admin.change("configured");
  CHECK(log_level() == LogLevel::kInfo);
}

TEST_CASE("log level: a change is told, whatever the levels are") {
  Admin admin(LogLevel::kInfo);
  const auto told = [] { return log_lines(LogLevel::kWarning) + log_lines(LogLevel::kError); };
  for (const char* from : {"debug", "error"}) {
    for (const char* to : {"debug", "info", "warning", "error"}) {
      INFO(from << " to " << to);
      admin.change(from);
      const uint64_t before = told(), errors = log_lines(LogLevel::kError);
      admin.change(to);
      CHECK(told() == before + 1);
      // A warning would be hidden only where both levels hide it.
      const bool hides = std::string(from) == "error" && std::string(to) == "error";
      CHECK(log_lines(LogLevel::kError) - errors == (hides ? 1u : 0u));
    }
  }
}

TEST_CASE("log level: each level is set once a second at most, and one that was refused changes nothing") {
  Admin admin(LogLevel::kInfo);
  CHECK(admin.act("debug").status == 200);
  CHECK(admin.act("configured").status == 200);  // Another one need not wait.
  admin.clock.advance_ms(kLogLevelIntervalMs - 1);
  CHECK(admin.act("debug").status == 429);
  CHECK(log_level() == LogLevel::kInfo);
  admin.clock.advance_ms(1);
  CHECK(admin.act("debug").status == 200);
  CHECK(log_level() == LogLevel::kDebug);
}
