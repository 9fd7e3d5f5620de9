// The part of a plan that says on what it all runs: memory of processes, machines, and what a lost one costs.
//
// Embedded store: window, merge and serve use one folder, so they run on one machine; the spare machine takes over from
// a backup. Store on servers: each machine runs a serve process, and as many of them as needed also run ingest, window
// and merge; the servers of the store and the brokers have machines of their own, of the same kind.
// Threading: pure functions and values.
#pragma once

#include "pipeline/plan/plan_store.h"
#include "pipeline/plan/plan_traffic.h"
#include "pipeline/plan/plan_work.h"

namespace bloomring {

// The least memory.limit of a process that runs ingest, window and merge, at least that of the settings; and the bytes
// of a pass of its drains.
struct PipelineMemory {
  uint64_t limit = 0;
  uint64_t drain_pass_bytes = 0;
};
Result<PipelineMemory> plan_pipeline_memory(const PlanInput& input);

void add_fleet_rows(const PlanInput& input, const PlanTraffic& traffic, const PlanStore& store, const PlanWork& work,
                    const PipelineMemory& pipeline, PlanResult& result);

}  // namespace bloomring
