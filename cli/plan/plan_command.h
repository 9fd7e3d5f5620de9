// `bloomring plan`: the plan of capacity (pipeline/plan) of a configuration and of what-if flags. Asks nobody.
#pragma once

#include <optional>
#include <string>

#include "cli/commands.h"
#include "pipeline/plan/plan_input.h"

namespace bloomring::cli {

struct PlanArgs {
  ConfigArgs config;           // --partitions overrides topics.partitions.
  PlanInput input;             // All but what the configuration says, and what stands below.
  std::string plays_per_user;  // A shape, as PlaysShape::parse; empty: as `input` has it.
  std::optional<bool> on_servers;    // Nothing: as store.kind.
  std::optional<uint32_t> replicas;  // Nothing: serve.replication_factor.
  std::optional<uint32_t> months;    // Nothing: filter.retention_periods.
  OutputFormat output = OutputFormat::kJson;
};

// Exit code 3: the plan does not hold on these machines; the output says why.
int plan_command(const PlanArgs& args);

}  // namespace bloomring::cli
