#include "pipeline/plan/plan.h"

#include "pipeline/plan/plan_fleet.h"
#include "pipeline/plan/plan_store.h"
#include "pipeline/plan/plan_traffic.h"
#include "pipeline/plan/plan_work.h"

namespace bloomring {

Result<PlanResult> make_plan(const PlanInput& input) {
  BLOOMRING_TRY(check_plan_input(input));
  BLOOMRING_TRY_ASSIGN(const PipelineMemory memory, plan_pipeline_memory(input));
  const double of_user = plays_per_day(input) / input.users * period_seconds(input.settings.filter.period) / 86'400;
  const PlaysPerUser users(input.shape, of_user);
  const PlanTraffic traffic = plan_traffic(input, users);
  const PlanStore store = plan_store(input, users);
  const PlanWork work = plan_work(input, traffic, memory.drain_pass_bytes);
  PlanResult result;
  add_traffic_rows(input, traffic, result);
  add_store_rows(input, traffic, store, result);
  add_work_rows(input, traffic, work, result);
  add_fleet_rows(input, traffic, store, work, memory, result);
  return result;
}

}  // namespace bloomring
