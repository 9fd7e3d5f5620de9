// The level of the log while the process runs: a page and actions of the admin port.
//
//   GET  /log/level              {"level":"debug","configured":"info"}
//   POST /log/level/debug        so with info, warning and error: writes this level from now on
//   POST /log/level/configured   goes back to log.level
//
// The log has a line of each change, whatever the levels are. Each of these actions is carried out once a second at
// most, so that nobody fills the log with its changes; another one is refused with 429. The next start takes log.level
// again.
// Threading: thread safe.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "pipeline/admin/admin_server.h"

namespace bloomring {

inline constexpr const char* kLogLevelPath = "/log/level";

inline constexpr int64_t kLogLevelIntervalMs = 1'000;

// `configured` is log.level. The clock outlives the actions.
void add_log_level(AdminPages& pages, AdminActions& actions, LogLevel configured, const Clock& clock);

}  // namespace bloomring
