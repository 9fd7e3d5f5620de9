// The part of a plan that is stored: filters, by the number of items that users have, and exact ids to compare with.
// Threading: pure functions and values.
#pragma once

#include "pipeline/plan/plan_traffic.h"

namespace bloomring {

struct PlanStore {
  double items = 0;         // Of a user and period, mean.
  double dense_share = 0;   // Of the filters.
  double open_bytes = 0;    // A filter, mean.
  double folded_bytes = 0;  // The same, folded.
  double filters_of_user = 0;
  PlanRange bytes;            // Keys and values of all filters, with the store's own.
  PlanRange disk_bytes;       // Embedded: on the machine's disk.
  PlanRange server_bytes;     // On servers: memory of all copies.
  double sorted_set_entries = 0;  // Of exact ids in the periods that a query reads.
  PlanRange sorted_set_bytes;     // Memory of all copies.
};

PlanStore plan_store(const PlanInput& input, const PlaysPerUser& users);
void add_store_rows(const PlanInput& input, const PlanTraffic& traffic, const PlanStore& store, PlanResult& result);

}  // namespace bloomring
