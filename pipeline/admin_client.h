// Asks the admin port of a running process, for commands that show what it says of itself.
// Threading: pure functions. Failure: kRetry when nothing answers there, kInvalid for an address that is none.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace bloomring {

// The body of an answer with status 200; any other is kRetry with what it says.
Result<std::string> get_admin_page(const std::string& address, const std::string& path);
// The value of a metric without labels in the text format of /metrics; kRetry when it is not there.
Result<double> metric_value(std::string_view page, std::string_view name);

}  // namespace bloomring
