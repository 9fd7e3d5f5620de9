// Lines of the log about who did what: forgets, actions of the admin port, and who may call.
//
// Guarantees: each is written, whatever the level of the log is, and begins with "audit: ". So nobody who may lower the
// level hides what was done meanwhile, and a site with `log.level: error` still knows who erased a user.
// Threading: thread safe.
#pragma once

#include <initializer_list>
#include <string_view>

#include "base/log.h"

namespace bloomring {

// `level` is the level that the line has and counts at.
void log_audit(std::string_view message, std::initializer_list<LogField> fields, LogLevel level = LogLevel::kInfo);

}  // namespace bloomring
