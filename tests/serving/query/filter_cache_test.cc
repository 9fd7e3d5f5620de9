#include "serving/query/filter_cache.h"

#include <catch2/catch.hpp>

#include "tests/support/serving_world.h"

using namespace bloomring;
using namespace std::string_view_literals;

namespace {

const std::vector<PeriodIndex> kWindow = {PeriodIndex(682), PeriodIndex(681)};

std::shared_ptr<const UserFilters> filters_of(int64_t merged, size_t bytes = 100) {
  // Some five bytes an item; hash 0 is an item like others.
  std::vector<ItemHash> items;
  for (uint64_t i = 0; i < bytes / 5 + 1; ++i) items.push_back(ItemHash(i << 40));
  auto value = filter::VerifiedValue::verify(filter::make(items, "u", "key", {}), "key");
  REQUIRE(value.ok());
  return std::make_shared<UserFilters>(UserFilters{kWindow, {{kWindow[0], std::move(value)}}, Offset(merged)});
}

}  // namespace

TEST_CASE("filter cache: gives filters only while they reach as far as memory does") {
  FilterCache cache(1 << 20);
  cache.put("u1"sv, filters_of(10));
  CHECK(cache.find("u1"sv, kWindow, Offset(9)) != nullptr);
  CHECK(cache.find("u1"sv, kWindow, Offset(10)) != nullptr);
  CHECK(cache.find("u1"sv, kWindow, Offset(11)) == nullptr);
  CHECK(cache.find("u1"sv, kWindow, Offset(10)) == nullptr);  // It is gone for good.
  CHECK(cache.stats().hits == 2);
  CHECK(cache.stats().stale == 1);
  CHECK(cache.stats().misses == 1);
  CHECK(cache.stats().bytes == 0);
}

TEST_CASE("filter cache: filters of another window are not given") {
  FilterCache cache(1 << 20);
  cache.put("u1"sv, filters_of(10));
  CHECK(cache.find("u1"sv, std::vector{PeriodIndex(683), PeriodIndex(682)}, Offset(0)) == nullptr);
}

TEST_CASE("filter cache: newer filters are not replaced by older ones of a slow read") {
  FilterCache cache(1 << 20);
  cache.put("u1"sv, filters_of(20));
  cache.put("u1"sv, filters_of(10));
  CHECK(cache.find("u1"sv, kWindow, Offset(20)) != nullptr);
}

TEST_CASE("filter cache: stays within its bound, and what was used longest ago goes first") {
  FilterCache cache(16 * 20'000);
  for (int i = 0; i < 10'000; ++i) {
    cache.put("user" + std::to_string(i), filters_of(1, 1'000));
    cache.find("user0"sv, kWindow, Offset(0));
    REQUIRE(cache.stats().bytes <= 16 * 20'000);
  }
  CHECK(cache.find("user0"sv, kWindow, Offset(0)) != nullptr);
  CHECK(cache.find("user1"sv, kWindow, Offset(0)) == nullptr);
  CHECK(cache.find("user9999"sv, kWindow, Offset(0)) != nullptr);
  CHECK(cache.stats().evictions > 9'000);
}

TEST_CASE("filter cache: without bytes it holds nothing, and nothing larger than its share") {
  FilterCache none(0);
  none.put("u1"sv, filters_of(1));
  CHECK(none.stats().entries == 0);
  FilterCache small(16 * 1'000);
  small.put("u1"sv, filters_of(1, 2'000));
  CHECK(small.stats().entries == 0);
}

TEST_CASE("filter cache: within a lap a user's filters are read from the store once") {
  ServingWorld world;
  world.play("u1", "v0");
  world.merge();
  world.release();
  for (int i = 1; i <= 5; ++i) {
    world.play("u1", "v" + std::to_string(i));
    world.merge();
    world.release();
    world.advance_hours(1);
    CHECK(world.seen("u1", "v" + std::to_string(i)) != "unseen");
  }
  CHECK(world.store.reads() == 1);
  world.advance_hours(7);
  world.release();
  for (int i = 0; i <= 5; ++i) CHECK(world.seen("u1", "v" + std::to_string(i)) == "filter 2026-11");
  CHECK(world.store.reads() == 2);
}
