#include "pipeline/runtime/start_wait.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/clock.h"

using namespace bloomring;

namespace {

std::string reason(const Health& health) {
  return nlohmann::json::parse(health.ready_json())["parts"]["start"].value("reason", "");
}

}  // namespace

TEST_CASE("start wait: it asks again until what it needs is there, and says meanwhile what it waits for") {
  const SystemClock clock;
  Health health;
  StartWait wait(clock, health, 0);
  CHECK(reason(health) == "starting");
  int attempts = 0;
  const Status there = wait.until("brokers", [&]() -> Status {
    if (++attempts == 2) {
      CHECK_THAT(reason(health), Catch::Matches("waiting for brokers since 20.*Z: gone"));
      CHECK("waiting for " + wait.waiting_for() == reason(health));
    }
    return attempts < 3 ? retry("gone") : Status();
  });
  CHECK(there.ok());
  CHECK(attempts == 3);
  CHECK(wait.waiting_for().empty());
  CHECK(reason(health) == "starting");
  health.set_ready("serve");
  CHECK_FALSE(health.ready());
  wait.done();
  CHECK(health.ready());
}

TEST_CASE("start wait: a failure that time does not mend comes out at once") {
  const SystemClock clock;
  Health health;
  StartWait wait(clock, health, 0);
  CHECK(wait.until("brokers", [] { return invalid("wrong"); }).message() == "wrong");
}

TEST_CASE("start wait: when the bound is over it fails with what was missing, and the bound is one for all waits") {
  const SystemClock clock;
  Health health;
  StartWait wait(clock, health, 1);
  const auto gone = [] { return retry("gone"); };
  const Status over = wait.until("brokers", gone);
  CHECK(over.code() == Code::kFatal);
  CHECK_THAT(over.message(), Catch::Matches(R"(waited \d+ s in vain for brokers: gone \(process\.start_seconds .*\))"));
  int attempts = 0;
  CHECK_FALSE(wait.until("topics", [&] { return ++attempts, gone(); }).ok());
  CHECK(attempts == 1);
}

TEST_CASE("start wait: given up, it makes no attempt more") {
  const SystemClock clock;
  Health health;
  StartWait wait(clock, health, 0);
  int attempts = 0;
  const auto attempt = [&] {
    ++attempts;
    wait.give_up();
    return retry("gone");
  };
  CHECK(wait.until("brokers", attempt).code() == Code::kFatal);
  CHECK_FALSE(wait.until("topics", attempt).ok());
  CHECK(attempts == 1);
}
