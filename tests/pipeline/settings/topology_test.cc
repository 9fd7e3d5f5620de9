#include "pipeline/settings/topology.h"

#include <catch2/catch.hpp>

#include "pipeline/stages/topology.h"

using namespace bloomring;

TEST_CASE("topology: stages start and stop in the order of the flow, however they are named") {
  const auto rows = stages_named(topology(), {"serve", "ingest", "merge"});
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]->name == "ingest");
  CHECK(rows[1]->name == "merge");
  CHECK(rows[2]->name == "serve");
}
