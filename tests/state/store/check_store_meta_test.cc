#include "state/store/check_store_meta.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace bloomring;

namespace {

StoreMeta berlin() { return {50, PeriodUnit::kWeek, "Europe/Berlin"}; }

}  // namespace

TEST_CASE("store meta: version 1, which names no period, fits any, with the same partitions") {
  const std::string bytes("\x01\x32\x00\x00\x00\x4f\x5a\x28\x33\x95\x1e\x93\x9e", 13);
  CHECK(check_store_meta(bytes, berlin()).ok());
  StoreMeta fewer = berlin();
  fewer.partition_count = 10;
  CHECK(check_store_meta(bytes, fewer).code() == Code::kInvalid);
}

TEST_CASE("store meta: another partition count, period or time zone is invalid, with both values and what to do") {
  StoreMeta other = berlin();
  std::vector<std::string> says;
  SECTION("partitions") {
    other.partition_count = 100;
    says = {"50 partitions", "100", "set the old partition count again"};
  }
  SECTION("period") {
    other.period = PeriodUnit::kMonth;
    says = {"filter.period is month", "written with week", "set week again"};
  }
  SECTION("time zone") {
    other.time_zone = "UTC";
    says = {"filter.time_zone is UTC", "written with Europe/Berlin", "set Europe/Berlin again"};
  }
  const Status status = check_store_meta(encode_store_meta(berlin()), other);
  CHECK(status.code() == Code::kInvalid);
  for (const std::string& part : says) CHECK_THAT(status.message(), Catch::Contains(part));
}

TEST_CASE("store meta: a store whose import has not ended fits that import alone") {
  const auto of = [](uint64_t import_id) { return StoreMeta{50, PeriodUnit::kMonth, "UTC", import_id}; };
  CHECK(compare_store_meta(of(7), of(7)).ok());
  CHECK(compare_store_meta(of(0), of(7)).ok());
  CHECK(compare_store_meta(of(7), of(0)).code() == Code::kInvalid);
  CHECK(compare_store_meta(of(7), of(8)).code() == Code::kInvalid);
}
