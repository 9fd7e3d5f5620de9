// Runs the simulated world over many seeds. A failing seed is printed with the command that repeats it.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "tests/simulation/sim_world.h"

namespace {

uint64_t number_from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE("simulation: no play that the log accepted is ever unseen, and what is forgotten is, whatever crashes when") {
  using bloomring::simulation::World;
  const uint64_t first =
      number_from_environment("BLOOMRING_SIM_SEED", number_from_environment("BLOOMRING_SIM_FIRST", 1));
  const bool single = std::getenv("BLOOMRING_SIM_SEED") != nullptr;
  const uint64_t seeds = single ? 1 : number_from_environment("BLOOMRING_SIM_SEEDS", 200);
  World::Tally sum;
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    INFO("repeat with: BLOOMRING_SIM_SEED=" << seed << " simulation_test");
    World world(seed);
    world.live(600);
    world.settle();
    sum.plays += world.tally().plays;
    sum.refused += world.tally().refused;
    sum.crashes += world.tally().crashes;
    sum.disks_lost += world.tally().disks_lost;
    sum.second_runs += world.tally().second_runs;
    sum.laps += world.tally().laps;
    sum.drains += world.tally().drains;
    sum.wiped += world.tally().wiped;
    sum.months += world.tally().months;
    sum.store_outages += world.tally().store_outages;
    sum.long_outages += world.tally().long_outages;
    sum.restores += world.tally().restores;
    sum.clock_steps += world.tally().clock_steps;
    sum.rebalances += world.tally().rebalances;
    sum.probes += world.tally().probes;
    sum.false_positives += world.tally().false_positives;
    sum.queries += world.tally().queries;
    sum.queried += world.tally().queried;
    sum.calls += world.tally().calls;
    sum.forgets += world.tally().forgets;
    sum.served += world.tally().served;
    sum.forgotten += world.tally().forgotten;
    sum.forgotten_seen += world.tally().forgotten_seen;
  }
  WARN("seeds " << seeds << ", plays " << sum.plays << ", refused " << sum.refused << ", crashes at fault points "
                << sum.crashes << ", disks lost " << sum.disks_lost << ", states wiped " << sum.wiped << ", drains "
                << sum.drains << ", second runs " << sum.second_runs << ", laps " << sum.laps << ", month turns "
                << sum.months << ", queries " << sum.queries << " for " << sum.queried << " plays, store outages "
                << sum.store_outages << ", of hours " << sum.long_outages << ", backups restored " << sum.restores
                << ", clock steps " << sum.clock_steps << ", rebalances " << sum.rebalances << ", false positives "
                << sum.false_positives << " of " << sum.probes << ", calls " << sum.calls << ", forgets " << sum.forgets
                << ", served items asked " << sum.served << ", forgotten ones " << sum.forgotten
                << ", of these seen by a collision " << sum.forgotten_seen);
  CHECK(sum.false_positives * 100 <= sum.probes);
  if (single) return;
  // A simulation in which nothing went wrong proves nothing.
  CHECK(sum.crashes > seeds);
  CHECK(sum.queries > seeds);
  CHECK(sum.served > seeds);
  if (seeds < 100) return;  // The rest is rarer.
  CHECK(sum.second_runs > 0);
  CHECK(sum.laps > 0);
  CHECK(sum.restores > 0);
  CHECK(sum.clock_steps > 0);
  CHECK(sum.rebalances > 0);
  CHECK(sum.months > 0);
  CHECK(sum.refused > 0);
  CHECK(sum.forgotten > 10'000);
}
