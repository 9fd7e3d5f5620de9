#include "pipeline/stages/topology.h"

#include <array>

#include "pipeline/stages/ingest_stage.h"
#include "pipeline/stages/merge_stage.h"
#include "pipeline/stages/serve_stage.h"
#include "pipeline/stages/window_stage.h"

namespace bloomring {
namespace {

template <typename AStage>
std::unique_ptr<Stage> make(const StageContext& context) {
  return std::make_unique<AStage>(context);
}

}  // namespace

Topology topology() {
  static const std::array<StageRow, 4> kRows{{
      {.name = "ingest",
       .purpose = "reads plays, refuses bad ones, packs the others into event blocks by user shard",
       .reads = {TopicRole::kPlays},
       .writes = {TopicRole::kUserEvents, TopicRole::kDeadLetters},
       .in_group = true,
       .claim = IngestStage::claim,
       .make = make<IngestStage>},
      {.name = "window",
       .purpose = "stages event blocks in the ring of slots, and drains each slot into user batches",
       .reads = {TopicRole::kUserEvents},
       .writes = {TopicRole::kUserBatches, TopicRole::kDeadLetters},
       .store = StoreRole::kReads,
       .in_group = true,
       .watches = {"merge"},
       .keeps_state = true,
       .claim = WindowStage::claim,
       .make = make<WindowStage>},
      {.name = "merge",
       .purpose = "unites user batches into the filters of the store, and moves the merged watermark",
       .reads = {TopicRole::kUserBatches},
       .writes = {TopicRole::kDeadLetters},
       .store = StoreRole::kWrites,
       .in_group = true,
       .claim = MergeStage::claim,
       .make = make<MergeStage>},
      {.name = "serve",
       .purpose = "answers which candidates a user has seen, from filters and from plays that are not merged yet",
       .reads = {TopicRole::kUserEvents},
       .writes = {TopicRole::kUserEvents},
       .store = StoreRole::kReads,
       .takes_calls = true,
       .claim = ServeStage::claim,
       .make = make<ServeStage>},
  }};
  return kRows;
}

}  // namespace bloomring
