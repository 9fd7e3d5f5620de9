#include "pipeline/admin/log_level_action.h"

#include <algorithm>
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

}  // namespace

void add_log_level(AdminPages& pages, AdminActions& actions, LogLevel configured) {
  const std::string path = kLogLevelPath;
  pages[path] = [configured] { return shown(configured); };
  for (const LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError}) {
    actions.by_path[path + "/" + std::string(log_level_name(level))] = [level, configured] {
      return change(level, configured);
    };
  }
  actions.by_path[path + "/configured"] = [configured] { return change(configured, configured); };
}

}  // namespace bloomring
