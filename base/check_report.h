// The writer of a failed check's reason (base/result.h), called before the process ends. The log sets itself as the
// writer when it starts; without a writer the reason goes to standard error.
// Threading: thread safe.
#pragma once

#include <string_view>

namespace bloomring {

using CheckReport = void (*)(std::string_view message, const char* file, int line);
void set_check_report(CheckReport report);

}  // namespace bloomring
