// The level of the log while the process runs: a page and actions of the admin port.
//
//   GET  /log/level              {"level":"debug","configured":"info"}
//   POST /log/level/debug        so with info, warning and error: writes this level from now on
//   POST /log/level/configured   goes back to log.level
//
// The log has a line of each change, whatever the levels are. The next start takes log.level again.
// Threading: thread safe.
#pragma once

#include <string>

#include "base/log.h"
#include "pipeline/admin/admin_server.h"

namespace bloomring {

inline constexpr const char* kLogLevelPath = "/log/level";

// `configured` is log.level.
void add_log_level(AdminPages& pages, AdminActions& actions, LogLevel configured);

}  // namespace bloomring
