#include "serving/service/open_calls.h"

#include <catch2/catch.hpp>
#include <future>

using namespace bloomring;

TEST_CASE("open calls: none is let in once it is closed, and the wait ends with the last that was") {
  OpenCalls calls;
  REQUIRE(calls.begin());
  REQUIRE(calls.begin());
  calls.close();
  CHECK_FALSE(calls.begin());
  CHECK_FALSE(calls.wait_until_none(0));
  calls.end();
  CHECK_FALSE(calls.wait_until_none(0));
  auto ended = std::async([&] { return calls.wait_until_none(60'000); });
  calls.end();
  CHECK(ended.get());
}
