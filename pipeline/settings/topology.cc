#include "pipeline/settings/topology.h"

#include <algorithm>
#include <string>

#include "base/result.h"

namespace bloomring {

std::string_view store_role_name(StoreRole role) {
  switch (role) {
    case StoreRole::kNone: return "none";
    case StoreRole::kReads: return "reads";
    case StoreRole::kWrites: return "writes";
  }
  return "";
}

StageRows all_stages(Topology topology) {
  StageRows rows;
  for (const StageRow& row : topology) rows.push_back(&row);
  return rows;
}

StageRows stages_named(Topology topology, const std::vector<std::string_view>& names) {
  StageRows rows;
  for (const StageRow& row : topology) {
    if (std::ranges::find(names, row.name) != names.end()) rows.push_back(&row);
  }
  BLOOMRING_CHECK(rows.size() == names.size(), "a name without a stage");
  return rows;
}

bool reads_topic(const StageRows& stages, TopicRole role) {
  return std::ranges::any_of(
      stages, [role](const StageRow* row) { return std::ranges::find(row->reads, role) != row->reads.end(); });
}

StoreRole store_role(const StageRows& stages) {
  StoreRole strongest = StoreRole::kNone;
  for (const StageRow* row : stages) strongest = std::max(strongest, row->store);
  return strongest;
}

bool keep_state(const StageRows& stages) {
  return std::ranges::any_of(stages, [](const StageRow* row) { return row->keeps_state; });
}

bool take_calls(const StageRows& stages) {
  return std::ranges::any_of(stages, [](const StageRow* row) { return row->takes_calls; });
}

}  // namespace bloomring
