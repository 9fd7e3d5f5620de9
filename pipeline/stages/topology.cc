#include "pipeline/stages/topology.h"

#include <array>

#include "pipeline/stages/ingest_stage.h"
#include "pipeline/stages/merge_stage.h"
#include "pipeline/stages/serve/serve_stage.h"
#include "pipeline/stages/window_stage.h"

namespace bloomring {
namespace {

template <typename AStage>
std::unique_ptr<Stage> make(const StageContext& context) {
  return std::make_unique<AStage>(context);
}

}  // namespace

StageRow window_row(ViewRows views) {
  StageRow row{.name = "window",
               .purpose = "stages event blocks in the ring of slots, and drains each slot into user batches",
               .reads = {TopicRole::kUserEvents},
               .writes = {},
               .store = StoreRole::kReads,
               .in_group = true,
               .keeps_state = true,
               .claim = WindowStage::claim,
               .make = make<WindowStage>};
  for (const ViewRow& view : views) {
    row.writes.push_back(view.batches);
    row.watches.push_back(view.merge_stage);
  }
  row.writes.push_back(TopicRole::kDeadLetters);
  return row;
}

Topology topology() {
  static const std::array<StageRow, 4> kRows{{
      {.name = "ingest",
       .purpose = "reads plays, refuses bad ones, packs the others into event blocks by user shard",
       .reads = {TopicRole::kPlays},
       .writes = {TopicRole::kUserEvents, TopicRole::kDeadLetters},
       .in_group = true,
       .claim = IngestStage::claim,
       .make = make<IngestStage>},
      window_row(views()),
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
