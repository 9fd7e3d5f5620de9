// The input of a plan of capacity: a site, its installation and its machines.
// Threading: pure functions and values.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "filter/policy.h"
#include "pipeline/plan/plan_constants.h"
#include "pipeline/plan/plays_per_user.h"
#include "pipeline/settings/settings.h"

namespace bloomring {

struct MachineKind {
  uint32_t cores = 16;
  double memory_bytes = 128.0 * (1 << 30);
  double disk_bytes = 4e12;
};

struct PlanInput {
  // Partitions, ring, filters, threads, memory.limit, replication. `stages` are all stages of the topology.
  Settings settings;
  bool on_servers = false;  // The filter store is on servers of the Redis protocol; false: embedded, on one machine.
  double users = 50e6;      // Who play in a month.
  double plays_per_day = 0;  // Of all users. 0: by the quantiles of `shape`, or kPlaysOfUser.
  PlaysShape shape{.sigma = kPlaysSigma.value.mid, .quantiles = {}};
  uint32_t id_bytes = 10;     // Of a user id.
  uint32_t replicas = 1;      // Serve processes that hold the same partition.
  uint32_t candidates = 5000;  // Of a call.
  double repeats = kRepeats.value.mid;
  double peak = kPeak.value.mid;
  double plays_per_session = kSessionPlays.value.mid;
  double plays_per_call = kCallPlays.value.mid;
  double serves_per_play = kServes.value.mid;
  double core_share = kCoreShare.value.mid;
  uint32_t spare_machines = 1;
  uint32_t server_copies = 2;  // Of a value on servers: a primary and its replicas.
  MachineKind machine;
};

// kInvalid for values that no plan can be made of; the message names the flag, the fault, and values to give instead.
Status check_plan_input(const PlanInput& input);

// Plays of all users, as the input means.
double plays_per_day(const PlanInput& input);
double period_seconds(PeriodUnit unit);  // A mean month: 30.44 days.
filter::Policy policy_of(const Settings& settings);
// Of a filter's key, as the kind of store names it: a mean.
double filter_key_bytes(const PlanInput& input);

}  // namespace bloomring
