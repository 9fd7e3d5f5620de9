#include "state/store/check_update.h"

#include <catch2/catch.hpp>

#include "tests/state/store/filter_store_beds.h"

using namespace bloomring;
using namespace bloomring::testing;

TEMPLATE_TEST_CASE("filter store: updates and partitions that cannot be are refused", "", EmbeddedBed,
                   MemoryBed, RedisBed) {
  TestType bed;
  const ItemHash item = item_hash("a");
  const std::string good = user("u1");
  const auto apply = [&](const FilterUpdate& update) { return bed.store().apply({&update, 1}).code(); };
  CHECK(apply({std::string_view(), PeriodIndex(kNow), {&item, 1}}) == Code::kBadRecord);
  CHECK(apply({good, PeriodIndex(-1), {&item, 1}}) == Code::kBadRecord);
  CHECK(apply({good, PeriodIndex(70000), {&item, 1}}) == Code::kBadRecord);
  CHECK(apply({good, PeriodIndex(kNow), {}}) == Code::kBadRecord);
  CHECK(bed.store().apply({}).ok());
  CHECK(bed.store().advance(PartitionId(kBedPartitions), {}).code() == Code::kInvalid);
  CHECK(bed.store().advance(PartitionId(-1), {}).code() == Code::kInvalid);
}
