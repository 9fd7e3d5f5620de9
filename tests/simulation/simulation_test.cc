// Runs the simulated world over many seeds. A failing seed is printed with the command that repeats it.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>

#include "base/log.h"
#include "base/scatter.h"
#include "tests/simulation/sim_world.h"

namespace {

// Which events ingest still knows when they are repeated depends on the places of their marks: a seed repeats only with
// the same places.
[[maybe_unused]] const bool places_fixed = (bloomring::fix_scatter_secrets(1), true);

using bloomring::simulation::Tally;
using bloomring::simulation::World;

uint64_t number_from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string text_of(const Tally& tally) {
  std::ostringstream text;
  for (const auto& [name, count] : tally.counts()) text << ", " << name << " " << count;
  const auto add = [&](const char* name, const Tally::Probes& probes) {
    text << "; items never played, where " << name << " is expected: " << probes.seen << " seen of " << probes.asked
         << ", " << probes.expected << " expected";
  };
  add("less than 1 of 10,000", tally.rarely);
  add("more", tally.often);
  return text.str();
}

// More than this many of what is expected `expected` times and comes by chance (Poisson) are seen with a probability
// below 1e-9: 6 standard deviations, and 12 more for small numbers, where the tail is longer than that of a normal
// distribution.
double most(double expected) { return expected + 6 * std::sqrt(expected) + 12; }

}  // namespace

TEST_CASE("simulation: no play that the log accepted is ever unseen, and what is forgotten is, whatever crashes when") {
  bloomring::log_start(bloomring::LogLevel::kError, bloomring::LogFormat::kText);  // Forged slot ends are warned of.
  const uint64_t first =
      number_from_environment("BLOOMRING_SIM_SEED", number_from_environment("BLOOMRING_SIM_FIRST", 1));
  const bool single = std::getenv("BLOOMRING_SIM_SEED") != nullptr;
  const uint64_t seeds = single ? 1 : number_from_environment("BLOOMRING_SIM_SEEDS", 200);
  Tally sum;
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    INFO("repeat with: BLOOMRING_SIM_SEED=" << seed << " simulation_test");
    World world(seed);
    world.live(600);
    world.settle();
    sum += world.tally();
  }
  WARN("seeds " << seeds << text_of(sum));
  CHECK(static_cast<double>(sum.rarely.seen) <= most(sum.rarely.expected));
  CHECK(static_cast<double>(sum.often.seen) <= most(sum.often.expected));
  if (single) return;
  // A simulation in which nothing went wrong proves nothing.
  CHECK(sum.crashes > seeds);
  CHECK(sum.queries > seeds);
  CHECK(sum.complete > seeds);
  CHECK(sum.served > seeds);
  CHECK(sum.slot_ends > seeds);
  CHECK(sum.forged > seeds);
  if (seeds < 100) return;  // The rest is rarer.
  CHECK(sum.second_runs > 0);
  CHECK(sum.laps > 0);
  CHECK(sum.restores > 0);
  CHECK(sum.clock_steps > 0);
  CHECK(sum.paused > 1'000);
  CHECK(sum.passed_over > 1'000);
  CHECK(sum.rebalances > 0);
  CHECK(sum.replays > seeds / 4);
  CHECK(sum.replays_crashed > 0);
  CHECK(sum.months > 0);
  CHECK(sum.refused > 0);
  CHECK(sum.large > 0);
  CHECK(sum.lacking > 0);
  CHECK(sum.gaps > 0);
  CHECK(sum.batches_lost > 0);
  CHECK(sum.logs_replaced > 0);
  CHECK(sum.unread_merged > 0);
  CHECK(sum.records_lost > 0);
  CHECK(sum.settings_changed > seeds);
  CHECK(sum.rings_resized > 0);
  CHECK(sum.records_cut > 0);
  CHECK(sum.cuts_refused > 0);
  CHECK(sum.logs_cut > sum.cuts_refused);
  CHECK(sum.burst_plays > 10'000);
  CHECK(sum.forgotten > 10'000);
}
