// The settings of a process of the simulated world: those that may change from one start to the next
// (docs/guarantees.md, "Settings that cannot change"). In a part of the worlds they are drawn at each start, so that
// processes of one chain run with different ones at once.
#pragma once

#include "filter/filter.h"
#include "operators/filters/slot_drain.h"
#include "operators/ingest.h"
#include "tests/simulation/sim_log.h"

namespace bloomring::simulation {

inline constexpr size_t kRecordBytes = 256;  // That records of ours aim at, where brokers take twice as many at most.

struct SimSettings {
  uint32_t ring_slots = 3;
  double drain_spread = 0.5;
  SlotDrainConfig drain;
  int64_t flush_interval_ms = 7'000;
  IngestConfig ingest;
  size_t recents_bytes_max = 1 << 20;
  size_t served_per_user_max = 5;
  filter::Policy filter;
};

// Those that a world begins with.
SimSettings first_settings(uint64_t seed, bool small_records);
// Those of a later start. What the brokers take does not change.
SimSettings changed_settings(const SimSettings& first, bool small_records, Random& random);

}  // namespace bloomring::simulation
