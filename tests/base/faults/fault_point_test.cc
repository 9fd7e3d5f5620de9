#include "base/faults/fault_point.h"

#include <catch2/catch.hpp>

namespace bloomring {
namespace {

// Arms for one test.
struct Armed {
  explicit Armed(std::string_view text) { REQUIRE(arm_fault_points(text).ok()); }
  ~Armed() { REQUIRE(arm_fault_points("").ok()); }
};

int failures(std::string_view name, int visits) {
  int failed = 0;
  for (int i = 0; i < visits; ++i) failed += injected_failure(name).code() == Code::kRetry;
  return failed;
}

}  // namespace

TEST_CASE("fault point: one that is not armed does nothing") {
  CHECK(injected_failure("store.apply").ok());
  const Armed other("store.read=fail:3");
  CHECK(injected_failure("store.apply").ok());
}

TEST_CASE("fault point: a failure lasts as many visits as was asked for, from the visit that was named") {
  const Armed armed("store.apply:3=fail:4,store.read=fail:1");
  CHECK(failures("store.apply", 2) == 0);
  CHECK(failures("store.apply", 4) == 4);
  CHECK(failures("store.apply", 10) == 0);
  CHECK(failures("store.read", 10) == 1);
}

TEST_CASE("fault point: what cannot be read arms nothing and says how it is written") {
  for (const char* text : {":3", "a:0", "a:x", "a=fall:1", "a=fail", "a=fail:0", "a=stall:", "a=exit:1", "a:1,,b"}) {
    CAPTURE(text);
    const Status status = arm_fault_points(text);
    CHECK(status.code() == Code::kInvalid);
    CHECK_THAT(status.message(), Catch::Contains("NAME[:VISIT]"));
  }
  CHECK(injected_failure("a").ok());
}

TEST_CASE("fault point: a handler hears of every point until it is removed") {
  int heard = 0;
  set_fault_handler([&](std::string_view name) { heard += name == "window.staged"; });
  fault_point("window.staged");
  fault_point("merge.applied");
  set_fault_handler({});
  fault_point("window.staged");
  CHECK(heard == 1);
}

}  // namespace bloomring
