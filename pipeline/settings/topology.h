// The stages as data: one row for each. Everything that depends on which stages there are reads the rows: the choices
// of `stages`, the plan of memory, the checks of stores and folders, the start and the end of a process, the pages.
//
// The table of the product is in pipeline/stages/topology.h, because a row names the class that runs the stage. A test
// adds a row of its own to a copy.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "pipeline/settings/memory_claim.h"
#include "schemas/topics.h"

namespace bloomring {

struct Settings;
struct StageContext;  // pipeline/stages/base/stage_context.h
class Stage;          // pipeline/stages/base/stage.h

// The use that a stage makes of the filter store.
enum class StoreRole : uint8_t { kNone, kReads, kWrites };
std::string_view store_role_name(StoreRole role);  // "none", "reads", "writes".

struct StageRow {
  std::string_view name;     // In `stages`, in names of groups, as the label `stage`.
  std::string_view purpose;  // One sentence.
  std::vector<TopicRole> reads;
  std::vector<TopicRole> writes;
  StoreRole store = StoreRole::kNone;
  // Reads as a member of the consumer group "<kafka.group_prefix>-<name>", as each PartitionStage does.
  bool in_group = false;
  std::vector<std::string_view> watches = {};  // Stages whose groups' committed offsets it asks for.
  bool keeps_state = false;  // Under state.path.
  bool takes_calls = false;  // At serve.listen.
  void (*claim)(const Settings& settings, const PartitionCounts& counts, MemoryClaims& claims) = nullptr;
  std::unique_ptr<Stage> (*make)(const StageContext& context) = nullptr;
};

// In the order of the flow. A process starts its stages from the end of the flow to its beginning and stops them the
// other way round, so that no stage writes what no stage reads.
using Topology = std::span<const StageRow>;

// The rows that a process runs, in the order of the flow. They outlive the settings.
using StageRows = std::vector<const StageRow*>;
// All rows of the topology.
StageRows all_stages(Topology topology);
// The rows with these names, for tests and tools. Fails a check for a name without a row.
StageRows stages_named(Topology topology, const std::vector<std::string_view>& names);

bool reads_topic(const StageRows& stages, TopicRole role);
// The strongest role of any of them.
StoreRole store_role(const StageRows& stages);
bool keep_state(const StageRows& stages);
bool take_calls(const StageRows& stages);

}  // namespace bloomring
