#include <catch2/catch.hpp>

#include "tests/cli/run_binary.h"

using namespace bloomring::testing;

TEST_CASE("cli: the reference pages list keys and metrics") {
  const Outcome config = run({"reference", "config"});
  CHECK(config.exit_code == 0);
  CHECK(contains(config.out,
                 "| `ring.slot_seconds` | integer in [1, 86400], seconds | `3600` | `BLOOMRING_RING_SLOT_SECONDS` |"));
  const Outcome metrics = run({"reference", "metrics"});
  CHECK(metrics.exit_code == 0);
  CHECK(contains(metrics.out, "| `bloomring_event_to_seen_seconds` | histogram |"));
}
