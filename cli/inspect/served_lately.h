// What a running service knows of a user beside the filters: for `bloomring inspect user`.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/result.h"
#include "cli/commands.h"

namespace bloomring::cli {

// The address to ask: --server, or serve.listen of the configuration as this machine reaches it. kInvalid without.
Result<std::string> service_address(const InspectArgs& args, const Settings& settings);

// {"recent":[{"item_hash":1,"period":"2026-11"}],"served":[2],
//  "left_out":{"items":[{"item_hash":3,"period":"2026-11"}],"filters":["2026-10"]}}
// Plays that are not merged or were shortly; served items, newest first; and what of the filters does not count after
// all that the user has forgotten, merged or not: of these items up to the period, and of `stored`, the filters of the
// store, those of these periods. {"service":"127.0.0.1:7700: why it could not be asked"} when nobody answers.
nlohmann::ordered_json served_lately(const InspectArgs& args, const Settings& settings, const std::string& scene,
                                     const nlohmann::ordered_json& stored);

// The scenes that the service knows, those of plays among them that are not merged; none when nobody answers.
std::set<std::string> scenes_lately(const InspectArgs& args, const Settings& settings);

}  // namespace bloomring::cli
