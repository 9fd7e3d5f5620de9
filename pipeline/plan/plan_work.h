// The part of a plan that takes time: CPU of the stages, drains, merges, and reading again.
// Threading: pure functions and values.
#pragma once

#include "pipeline/plan/plan_store.h"
#include "pipeline/plan/plan_traffic.h"

namespace bloomring {

struct PlanWork {
  // Cores at the peak.
  PlanRange chain;  // Ingest, window and merge.
  PlanRange replicas;
  PlanRange calls;
  PlanRange total() const { return chain + replicas + calls; }

  uint32_t pipeline_processes = 1;  // Ingest, window and merge, at work; without spares.
  double passes = 1;                // Of the drain of one partition's fullest slot.
  PlanRange drain_s;                // Of the fullest slot, on the window threads of these processes.
  PlanRange merge_s;                // The same on the merge threads.
};

// `drain_pass_bytes`: of a pipeline process (MemoryPlan).
PlanWork plan_work(const PlanInput& input, const PlanTraffic& traffic, uint64_t drain_pass_bytes);
void add_work_rows(const PlanInput& input, const PlanTraffic& traffic, const PlanWork& work, PlanResult& result);

}  // namespace bloomring
