// Counts of the events in simulated worlds, for messages, and to see that a run was worth something.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace bloomring::simulation {

struct Tally {
  uint64_t plays = 0, burst_plays = 0, refused = 0, large = 0;
  uint64_t crashes = 0, disks_lost = 0, wiped = 0, gaps = 0, batches_lost = 0, paused = 0;
  uint64_t passed_over = 0;       // Steps of ingest that passed over the plays for some partition.
  uint64_t settings_changed = 0;  // Starts with other settings than the world began with.
  uint64_t rings_resized = 0;     // Rings that were restored with another number of slots.
  uint64_t logs_cut = 0, records_cut = 0, cuts_refused = 0;  // Of cuts: of several partitions at once.
  uint64_t logs_expired = 0, records_lost = 0;  // Of these: they were neither merged nor staged.
  uint64_t logs_replaced = 0, new_logs_crashed = 0, unread_merged = 0;
  uint64_t restores = 0, store_outages = 0, long_outages = 0, clock_steps = 0, rebalances = 0, months = 0;
  uint64_t forged = 0;  // Slot ends.
  uint64_t drains = 0, second_runs = 0, laps = 0;
  uint64_t slot_ends = 0;               // Whose records were looked for in front of them.
  uint64_t replays = 0, replays_crashed = 0;  // Of replays: that have ended.
  uint64_t calls = 0, forgets = 0;      // Of forgets: in the log.
  uint64_t read_before_noted = 0;       // Of calls: the replica read the record before it was acknowledged.
  uint64_t queries = 0, queried = 0;    // Answers, and items that must be seen in them.
  uint64_t complete = 0, lacking = 0;   // Answers that said that they lack nothing; that lacked something and said so.
  uint64_t served = 0;                  // Served items that were asked about.
  uint64_t forgotten = 0, forgotten_seen = 0;  // Forgotten items that were asked about; of these, seen by a collision.
  // Items that nobody played, how many of them were seen, and how many the answers themselves expected: of answers that
  // expect few, and of those that expect many.
  struct Probes {
    uint64_t asked = 0, seen = 0;
    double expected = 0;
  };
  Probes rarely, often;

  std::map<std::string, uint64_t> counts() const;
  Tally& operator+=(const Tally& other);
};

}  // namespace bloomring::simulation
