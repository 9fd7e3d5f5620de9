// Asks the admin port of a running process: for commands that show what it says of itself, or have it do something.
// 0.0.0.0 stands for this machine, so that admin.listen can be given as it is.
// Threading: functions that keep nothing. Failure: kRetry when nothing answers there, kInvalid for an address that is
// none.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "pipeline/admin/admin_server.h"

namespace bloomring {

// The body of an answer with status 200, waited for five seconds; any other is kRetry with what it says.
Result<std::string> get_admin_page(const std::string& address, const std::string& path);
// The value of a metric without labels in the text format of /metrics; kRetry when it is not there.
Result<double> metric_value(std::string_view page, std::string_view name);

// Asks for an action and waits for its answer as long as it takes, whatever its status is.
Result<AdminPage> post_admin_action(const std::string& address, const std::string& path);

}  // namespace bloomring
