#include "pipeline/stages/topology.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace bloomring;

TEST_CASE("topology: every topic of ours is written by one stage and read by another, and one stage writes the store") {
  int writers = 0;
  for (const StageRow& row : topology()) writers += row.store == StoreRole::kWrites ? 1 : 0;
  CHECK(writers == 1);
  const auto any = [](auto&& is) { return std::ranges::any_of(topology(), is); };
  for (const TopicRole role : {TopicRole::kUserEvents, TopicRole::kUserBatches}) {
    INFO(role.word);
    CHECK(any([&](const StageRow& row) { return std::ranges::find(row.writes, role) != row.writes.end(); }));
    CHECK(any([&](const StageRow& row) { return std::ranges::find(row.reads, role) != row.reads.end(); }));
  }
}
