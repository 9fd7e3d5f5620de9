#include "pipeline/admin/log_level_action.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/running_log.h"

namespace bloomring {

namespace {

AdminPage shown(LogLevel configured) {
  return {200, "application/json",
          R"({"level":")" + std::string(log_level_name(log_level())) + R"(","configured":")" +
              std::string(log_level_name(configured)) + "\"}\n"};
}

// The line of the change is written while both levels are in force, so that neither hides it: at the level of the lower
// one, or as an error where both hide warnings.
AdminPage change(LogLevel to, LogLevel configured) {
  const LogLevel from = log_level();
  set_log_level(std::min(from, to));
  log_line(std::max(LogLevel::kWarning, std::min(from, to)), "audit: log.level changed",
           {{"from", log_level_name(from)}, {"to", log_level_name(to)}});
  set_log_level(to);
  return shown(configured);
}

// An action that changes the level, with its interval.
class Change {
 public:
  Change(LogLevel to, LogLevel configured, const Clock& clock) : to_(to), configured_(configured), clock_(clock) {}

  AdminPage act() {
    const std::lock_guard lock(mutex_);
    const int64_t now_ns = clock_.steady_ns();
    if (began_ns_ && now_ns - *began_ns_ < kLogLevelIntervalMs * 1'000'000)
      return {429, "text/plain; charset=utf-8", "this level was set less than a second ago\n"};
    began_ns_ = now_ns;
    return change(to_, configured_);
  }

 private:
  const LogLevel to_, configured_;
  const Clock& clock_;
  std::mutex mutex_;
  std::optional<int64_t> began_ns_;
};

}  // namespace

void add_log_level(AdminPages& pages, AdminActions& actions, LogLevel configured, const Clock& clock) {
  const std::string path = kLogLevelPath;
  pages[path] = [configured] { return shown(configured); };
  const auto add = [&](std::string_view word, LogLevel to) {
    actions.by_path[path + "/" + std::string(word)] =
        [one = std::make_shared<Change>(to, configured, clock)] { return one->act(); };  // Shared by copies.
  };
  for (const LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError})
    add(log_level_name(level), level);
  add("configured", configured);
}

}  // namespace bloomring
