// Calls the admin port of a running process, for commands that show its pages or start an action. 0.0.0.0 means this
// machine, so that admin.listen can be passed unchanged.
// Threading: functions without state.
// Errors: kRetry when nothing answers there, kInvalid for a malformed address.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "pipeline/admin/admin_server.h"

namespace bloomring {

// The answer with any status, within five seconds.
Result<AdminPage> read_admin_page(const std::string& address, const std::string& path);
// The body of an answer with status 200, within five seconds; any other status is kRetry with the body.
Result<std::string> get_admin_page(const std::string& address, const std::string& path);
// The value of a metric without labels in the text format of /metrics; kRetry when it is missing.
Result<double> metric_value(std::string_view page, std::string_view name);

// Requests an action with the token and waits as long as it takes (at most a day). Returns the answer with any status.
Result<AdminPage> post_admin_action(const std::string& address, const std::string& path, const std::string& token);

}  // namespace bloomring
