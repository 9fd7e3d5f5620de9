// The first part of a plan: how many plays come, from how many users, and what they take in the topics.
// Threading: pure functions and values.
#pragma once

#include "pipeline/plan/plan_input.h"
#include "pipeline/plan/plan_result.h"

namespace bloomring {

// The sums over all users that a slot needs. "Active": the user plays in it.
struct SlotSums {
  double users = 0;          // Active ones.
  double operand_bytes = 0;  // Keys and values of the updates that the slot hands to the filter store.
  double filter_bytes = 0;   // Of the open filters of the active users, at the end of their period.
};

struct PlanTraffic {
  double slot_s = 0;
  double slots_of_period = 0;
  double plays_of_user = 0;  // In a period.
  double plays_s = 0;        // Mean.
  double peak_plays_s = 0;
  double events_of_play = 0;  // A play and its serves.
  SlotSums mean_slot;
  SlotSums peak_slot;

  double peak_slot_plays() const { return peak_plays_s * slot_s; }
  double peak_slot_events() const { return peak_slot_plays() * events_of_play; }
  double peak_calls_s = 0;

  PlanRange event_bytes;   // A play and its serves in user-events, with Kafka's own.
  PlanRange staged_bytes;  // The same in the window's folder.
  double batch_bytes = 0;  // A play in user-batches.
};

PlanTraffic plan_traffic(const PlanInput& input, const PlaysPerUser& users);
void add_traffic_rows(const PlanInput& input, const PlanTraffic& traffic, PlanResult& result);

}  // namespace bloomring
