#include "state/store/store_meta.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace bloomring;

namespace {

StoreMeta berlin() { return {50, PeriodUnit::kWeek, "Europe/Berlin"}; }

}  // namespace

TEST_CASE("store meta: its bytes are golden, every flipped bit and missing byte is noticed") {
  const std::string bytes = encode_store_meta(berlin());
  CHECK(bytes.substr(0, 20) == std::string("\x02\x32\x00\x00\x00w\x0d" "Europe/Berlin", 20));
  CHECK(check_store_meta(bytes, berlin()).ok());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string bad = bytes;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    REQUIRE(check_store_meta(bad, berlin()).code() == Code::kCorrupt);
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    REQUIRE(check_store_meta(bytes.substr(0, size), berlin()).code() == Code::kCorrupt);
  }
  CHECK(check_store_meta(bytes + "x", berlin()).code() == Code::kCorrupt);
}

TEST_CASE("store meta: version 1, which names no period, is read") {
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
