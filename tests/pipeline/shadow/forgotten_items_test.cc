#include "pipeline/shadow/forgotten_items.h"

#include <catch2/catch.hpp>

#include "base/hash.h"

using namespace bloomring;

namespace {

constexpr int64_t kNovemberMs = 1'764'000'000'000, kOctoberMs = 1'760'000'000'000, kSeptemberMs = 1'757'500'000'000;

}  // namespace

TEST_CASE("forgotten items: a snapshot tells items by the newest period that no longer counts") {
  const Calendar calendar = Calendar::create({}).value();
  Snapshot snapshot;
  snapshot.periods = {"2025-11", "2025-10", "2025-09"};
  snapshot.forgotten = {{item_hash("v1"), 1}};
  CHECK_FALSE(is_forgotten(snapshot, calendar, item_hash("v1"), kNovemberMs));
  CHECK(is_forgotten(snapshot, calendar, item_hash("v1"), kOctoberMs));
  CHECK(is_forgotten(snapshot, calendar, item_hash("v1"), kSeptemberMs));
  CHECK(is_forgotten(snapshot, calendar, item_hash("v1"), 0));
  CHECK_FALSE(is_forgotten(snapshot, calendar, item_hash("v2"), kOctoberMs));
  CHECK_FALSE(is_forgotten(snapshot, calendar, item_hash("v2"), 0));
}

TEST_CASE("forgotten items: the store tells items and everything by their times") {
  Forgotten forgotten;
  CHECK_FALSE(is_forgotten(forgotten, item_hash("v1"), 0));
  forgotten.forget_item(item_hash("v1"), kOctoberMs);
  CHECK(is_forgotten(forgotten, item_hash("v1"), kOctoberMs));
  CHECK(is_forgotten(forgotten, item_hash("v1"), 0));
  CHECK_FALSE(is_forgotten(forgotten, item_hash("v1"), kNovemberMs));
  CHECK_FALSE(is_forgotten(forgotten, item_hash("v2"), kOctoberMs));
  forgotten.forget_everything(kSeptemberMs);
  CHECK(is_forgotten(forgotten, item_hash("v2"), kSeptemberMs));
  CHECK_FALSE(is_forgotten(forgotten, item_hash("v2"), kOctoberMs));
  CHECK(is_forgotten(forgotten, item_hash("v2"), 0));
}
