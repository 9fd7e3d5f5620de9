// `bloomring store export` and `bloomring store import`: a filter store to files, and files to an empty one.
#pragma once

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "cli/commands.h"

namespace bloomring::cli {

// The result of the command. Progress goes to standard error: one line that changes on a terminal, lines of the log
// elsewhere.
Result<nlohmann::ordered_json> export_to_files(const StoreArgs& args, const Settings& settings);
// Without --execute it reads and verifies the files, and opens no store.
Result<nlohmann::ordered_json> import_from_files(const StoreArgs& args, const Settings& settings);

}  // namespace bloomring::cli
