#include "pipeline/shadow/query_queue.h"

#include <catch2/catch.hpp>

#include "tests/pipeline/shadow/shadow_bed.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("query queue: queries come out in their order, and what does not fit is dropped and counted") {
  QueryQueue queue;
  CHECK_FALSE(queue.next()->has_value());
  for (size_t i = 0; i < QueryQueue::kQueriesMax + 3; ++i) queue.push(ShadowBed::query({"v1"}, std::to_string(i)));
  CHECK(queue.dropped() == 3);
  CHECK((*queue.next())->user == "0");
  queue.push(ShadowBed::query({"v1"}, "last"));
  CHECK(queue.dropped() == 3);
  std::string user;
  while (const auto query = *queue.next()) user = query->user;
  CHECK(user == "last");
}

TEST_CASE("query queue: its bytes are bounded too, and come back with what was taken") {
  QueryQueue queue;
  const FilterCall large = ShadowBed::query(std::vector<std::string>(20'000, std::string(128, 'v')));
  for (int i = 0; i < 100; ++i) queue.push(large);
  const uint64_t kept = 100 - queue.dropped();
  CHECK(kept > 10);
  CHECK(kept * 20'000 * 128 < QueryQueue::kBytesMax);
  while (queue.next()->has_value()) continue;
  for (int i = 0; i < 100; ++i) queue.push(large);
  CHECK(200 - queue.dropped() == 2 * kept);
}

TEST_CASE("query queue: calls that are no query, or of another kind, are counted apart") {
  QueryQueue queue;
  queue.refuse();
  queue.pass_over();
  queue.pass_over();
  CHECK(queue.refused() == 1);
  CHECK(queue.unlike() == 2);
  CHECK(queue.dropped() == 0);
  CHECK_FALSE(queue.ended());
}
