#include "pipeline/topics/retention_need.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

constexpr int64_t kHourMs = 3'600'000;

std::vector<std::string> check(const std::string& ms, const std::string& bytes, RingSettings ring = {}) {
  return check_retention({{"retention.ms", ms}, {"retention.bytes", bytes}, {"cleanup.policy", "delete"}}, ring);
}

}  // namespace

TEST_CASE("retention: the log must outlast a lap, the hour before it and the two after it") {
  CHECK(retention_need_ms({}) == 9 * kHourMs);
  CHECK(check(std::to_string(9 * kHourMs), "-1").empty());
  CHECK(check("-1", "-1").empty());
  const auto found = check(std::to_string(9 * kHourMs - 1), "-1");
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0],
             Catch::Contains("shorter than the ring needs: 6 slots of a lap and 3 more, 3600 s each, make 9 h"));
  RingSettings quick;
  quick.slot_seconds = 4;
  CHECK(check("36000", "-1", quick).empty());
  CHECK(check("35999", "-1", quick).size() == 1);
}

TEST_CASE("retention: a bound in bytes is told as the load up to which it is enough") {
  const auto found = check("-1", std::to_string(9LL * 3600 * 1300));
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0], Catch::Contains("less than 1300 bytes a second, about 100 plays"));
}

TEST_CASE("retention: settings that the broker does not tell are no warning") {
  CHECK(check_retention({}, {}).empty());
}
