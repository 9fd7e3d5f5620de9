#include "state/legacy/legacy_writer.h"

#include <catch2/catch.hpp>

#include "tests/state/legacy/old_store_bed.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("legacy writer: members reach their sets with their last scores, many at a time") {
  OldStoreBed bed;
  LegacyWriter writer(*bed.client);
  const size_t members = 2 * LegacyWriter::kGatheredMax + 7;
  for (size_t i = 0; i < members; ++i)
    REQUIRE(writer.add("k" + std::to_string(i % 100), "m" + std::to_string(i), std::to_string(i)).ok());
  REQUIRE(writer.add("k1", "m1", "-5").ok());
  REQUIRE(writer.flush().ok());
  size_t written = 0;
  for (int i = 0; i < 100; ++i) written += std::stoul(bed.server.ask({"ZCARD", "k" + std::to_string(i)}));
  CHECK(written == members);
  CHECK(bed.server.ask({"ZSCORE", "k1", "m1"}) == "-5\n");
  CHECK(writer.bytes() > members * 10);
}

TEST_CASE("legacy writer: a cut keeps the newest members") {
  OldStoreBed bed;
  LegacyWriter writer(*bed.client);
  for (int i = 0; i < 20; ++i) REQUIRE(writer.add("k", std::to_string(i), std::to_string(i)).ok());
  REQUIRE(writer.add("short", "0", "0").ok());
  REQUIRE(writer.flush().ok());
  REQUIRE(writer.cut({"k", "short", "none"}, 3).ok());
  CHECK(bed.server.ask({"ZRANGE", "k", "0", "-1"}) == "17\n18\n19\n");
  CHECK(bed.server.ask({"ZCARD", "short"}) == "1\n");
}

TEST_CASE("legacy writer: what a server refuses is said, with the server") {
  OldStoreBed bed;
  bed.server.ask({"SET", "k", "x"});
  LegacyWriter writer(*bed.client);
  REQUIRE(writer.add("k", "m", "1").ok());
  const Status refused = writer.flush();
  CHECK_FALSE(refused.ok());
  CHECK_THAT(refused.message(), Catch::StartsWith(bed.server.address().text() + ": ZADD"));
}
