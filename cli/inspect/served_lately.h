// Asks a running service for its state of a user in addition to the filters, for `bloomring inspect user`.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/result.h"
#include "cli/commands.h"

namespace bloomring::cli {

// The address to ask: --server, or the configuration's serve.listen as reachable from this machine. kInvalid without
// both.
Result<std::string> service_address(const InspectArgs& args, const Settings& settings);

// {"recent":[{"item_hash":1,"period":"2026-11"}],"served":[2],
//  "left_out":{"items":[{"item_hash":3,"period":"2026-11"}],"filters":["2026-10"]}}
// - "recent": plays that are not merged, or merged lately.
// - "served": served items, newest first.
// - "left_out": the parts of filters that do not count after all forgets, merged or not: "items" up to the period, and
//   of `stored`, the filters of the store, those of the periods in "filters".
// {"service":"127.0.0.1:7700: why it could not be asked"} when the service does not answer.
nlohmann::ordered_json served_lately(const InspectArgs& args, const Settings& settings, const std::string& scene,
                                     const nlohmann::ordered_json& stored);

// The scenes that the service knows, also those of unmerged plays; none when it does not answer.
std::set<std::string> scenes_lately(const InspectArgs& args, const Settings& settings);

}  // namespace bloomring::cli
