#include "pipeline/settings/write_plan.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

Settings on_servers(uint64_t rate, uint64_t users) {
  Settings settings;
  settings.store.kind = StoreKind::kRedis;
  settings.store.write_bytes_per_second = rate;
  settings.store.plan_users_per_slot = users;
  settings.store.plan_filter_bytes = 1936;  // 2000 with its key.
  settings.ring.slot_seconds = 1000;
  return settings;
}

}  // namespace

TEST_CASE("write plan: an hour that fits is told with its arithmetic") {
  const WritePlan plan = plan_writes(on_servers(1'000'000, 400'000));
  CHECK(plan.fits);
  CHECK(plan.arithmetic ==
        "store.write_bytes_per_second is 1000000: 1000000 x 1000 s (ring.slot_seconds) = 1000000000 bytes in each "
        "slot, which is enough for 400000 users (store.plan_users_per_slot) x 2000 bytes (store.plan_filter_bytes 1936 "
        "and a key of 64) = 800000000 bytes, 80 % of it");
}

TEST_CASE("write plan: the last user who fits is the one who fills the slot, and the rate for one more is named") {
  CHECK(plan_writes(on_servers(1'000'000, 500'000)).fits);
  const WritePlan plan = plan_writes(on_servers(1'000'000, 500'001));
  CHECK_FALSE(plan.fits);
  CHECK_THAT(plan.arithmetic, Catch::Contains("too little for 500001 users") && Catch::Contains("= 1000002000 bytes") &&
                                  Catch::Contains("; set it to at least 1000002,"));
  CHECK(plan_writes(on_servers(1'000'002, 500'001)).fits);
}

TEST_CASE("write plan: without users it says how many fit, without a rate which one is needed, without both nothing") {
  CHECK_THAT(plan_writes(on_servers(1'000'000, 0)).arithmetic, Catch::Contains("or 500000 filters of 2000 bytes"));
  const WritePlan unbound = plan_writes(on_servers(0, 500'001));
  CHECK(unbound.fits);
  CHECK_THAT(unbound.arithmetic, Catch::Contains("are 1000002 bytes a second"));
  CHECK(plan_writes(on_servers(0, 0)).arithmetic.empty());
}

TEST_CASE("write plan: a store of this machine has none") {
  Settings settings = on_servers(1, 1'000'000);
  settings.store.kind = StoreKind::kEmbedded;
  CHECK(plan_writes(settings).arithmetic.empty());
  CHECK(plan_writes(settings).fits);
}
