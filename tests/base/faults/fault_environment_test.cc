#include "base/faults/fault_environment.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/faults/fault_point.h"
#include "tests/support/manual_clock.h"

namespace bloomring {
namespace {

// A variable of this process, for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { REQUIRE(::setenv(name, value, 1) == 0); }
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* const name_;
};

}  // namespace

TEST_CASE("fault environment: injects nothing that it was not asked for") {
  const ManualClock manual(0);
  const auto clock = faults_of_environment(manual);
  REQUIRE(clock.ok());
  CHECK(*clock == nullptr);
  CHECK(injected_failure("store.apply").ok());
}

TEST_CASE("fault environment: arms fault points and makes the clock wrong") {
  const Variable points("BLOOMRING_FAULT_POINT", "store.apply=fail:1");
  const Variable step("BLOOMRING_CLOCK_STEP", "30000:0");
  const ManualClock manual(0);
  const auto clock = faults_of_environment(manual);
  REQUIRE(clock.ok());
  REQUIRE(*clock != nullptr);
  CHECK((*clock)->now_ms() == 30'000);
  CHECK(injected_failure("store.apply").code() == Code::kRetry);
  REQUIRE(arm_fault_points("").ok());
}

TEST_CASE("fault environment: a variable that cannot be read is refused by its name") {
  const ManualClock manual(0);
  for (const char* name : {"BLOOMRING_FAULT_POINT", "BLOOMRING_CLOCK_STEP"}) {
    CAPTURE(name);
    const Variable wrong(name, ":x");
    const Status status = faults_of_environment(manual).status();
    CHECK(status.code() == Code::kInvalid);
    CHECK_THAT(status.message(), Catch::StartsWith(name));
  }
}

}  // namespace bloomring
