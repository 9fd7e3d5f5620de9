#include "pipeline/runtime/port_watch.h"

#include <catch2/catch.hpp>

#include "tests/support/manual_clock.h"

using namespace bloomring;

namespace {

constexpr int64_t kDeafMs = 60'000;

struct Rig {
  ManualClock clock{1'795'000'000'000};
  Health health;
  Status answer;
  PortWatch watch{"serve port", [this] { return answer; }, clock, kDeafMs, health};

  bool alive_after(int64_t ms) {
    clock.advance_ms(ms);
    watch.look();
    return health.alive();
  }
};

}  // namespace

TEST_CASE("port watch: a port that answers nothing for the bound makes the process unhealthy, until it answers again") {
  Rig rig;
  CHECK(rig.alive_after(0));
  rig.answer = retry("the gRPC port 127.0.0.1:7700 takes connections but answers none");
  CHECK(rig.alive_after(kDeafMs - 1));
  CHECK_FALSE(rig.alive_after(1));
  CHECK(rig.health.alive_json().find(
            "the gRPC port 127.0.0.1:7700 takes connections but answers none, for 60 s") != std::string::npos);
  CHECK_FALSE(rig.alive_after(kDeafMs));
  rig.answer = {};
  CHECK(rig.alive_after(0));
  rig.answer = retry("deaf again");
  CHECK(rig.alive_after(kDeafMs - 1));
  CHECK_FALSE(rig.alive_after(1));
}

TEST_CASE("port watch: one question without an answer is forgiven, and a port that never answered has its time, too") {
  Rig rig;
  rig.answer = retry("deaf");
  CHECK(rig.alive_after(kDeafMs - 1));
  rig.answer = {};
  CHECK(rig.alive_after(0));
  rig.answer = retry("deaf");
  CHECK(rig.alive_after(kDeafMs - 1));
}

TEST_CASE("port watch: a port that answers says nothing about readiness") {
  Rig rig;
  CHECK(rig.alive_after(0));
  CHECK_FALSE(rig.health.ready());
}
