// Who writes why a check failed (base/result.h), before the process ends: the log, once it is started. Standard error
// where nobody is set. Thread safe.
#pragma once

#include <string_view>

namespace bloomring {

using CheckReport = void (*)(std::string_view message, const char* file, int line);
void set_check_report(CheckReport report);

}  // namespace bloomring
