#include "cli/calls/served_command.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "tests/support/served_over_grpc.h"

using namespace bloomring;

TEST_CASE("served command: records what it is given, in calls of a thousand, and says how much") {
  Served served;
  std::istringstream none;
  std::ostringstream out, err;
  ServedOptions options{.server = served.server->address(), .user = "u1", .scene = "feed", .deadline_ms = 60'000};
  for (int i = 0; i < 2'001; ++i) options.items.push_back("v" + std::to_string(i));
  CHECK(bloomring::served(options, none, out, err) == 0);
  CHECK(out.str() == "{\"user\":\"u1\",\"scene\":\"feed\",\"recorded\":2001}\n");
  REQUIRE(served.log.appended.size() == 2'001);
  CHECK(served.log.appended.back().first == UserKey("feed", "u1"));
  CHECK(served.log.appended.back().second.item == item_hash("v2000"));
}

TEST_CASE("served command: items come from the input, and each kind of failure has its exit code") {
  Served served;
  std::ostringstream out, err;
  ServedOptions options{.server = served.server->address(), .user = "u1", .deadline_ms = 60'000};
  std::istringstream two("v1\n\nv2\n");
  CHECK(bloomring::served(options, two, out, err) == 0);
  CHECK(out.str() == "{\"user\":\"u1\",\"recorded\":2}\n");
  served.log.outcome = retry("the broker does not answer");
  std::istringstream one("v1\n");
  CHECK(bloomring::served(options, one, out, err) == 1);
  CHECK_THAT(err.str(), Catch::Contains("the log does not answer now"));
  options.user.clear();
  std::istringstream again("v1\n");
  CHECK(bloomring::served(options, again, out, err) == 2);
}
