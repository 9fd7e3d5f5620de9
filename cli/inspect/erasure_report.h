// Makes the report of `bloomring inspect user --erasure` (docs/erasure.md). Each row names a place that still has data
// of the user, the data, and when it leaves that place. The rows follow from the configuration, from the stores on this
// machine and from the service's answers.
// Threading: pure function.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/settings/settings.h"
#include "state/period.h"
#include "state/store/embedded/store_backup.h"

namespace bloomring::cli {

struct ErasureFacts {
  std::string user;
  // As inspect shows them: "scene", "filters", "forgotten" and, where the service was asked, "recent" and "served".
  std::vector<nlohmann::ordered_json> scenes;
  std::optional<int64_t> deleted_since_ms;  // The oldest deletion mark of the scenes' shards.
  std::vector<StoreBackup> backups;         // Oldest first.
};

// [{"where":"filter store","what":"2 filters","until_ms":1795046400000}, ...]; where no time is known, `until` says it
// in words.
nlohmann::ordered_json erasure_report(const Settings& settings, const Calendar& calendar, const ErasureFacts& facts);

}  // namespace bloomring::cli
