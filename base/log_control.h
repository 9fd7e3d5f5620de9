// Changes the log of a running process; log.h, which every room includes, has the rest.
// Threading: thread safe.
#pragma once

#include <cstdint>

namespace bloomring {

enum class LogLevel : uint8_t;

// The lowest level that is written.
LogLevel log_level();
// From the next line on.
void set_log_level(LogLevel level);

}  // namespace bloomring
