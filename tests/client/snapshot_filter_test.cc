#include "client/snapshot_filter.h"

#include <catch2/catch.hpp>

#include "client/client.h"
#include "serving/service/request_codec.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

// A question of a decoded request that is gone does not compile.
template <typename Decoded>
concept Askable = requires(Decoded decoded) { std::forward<Decoded>(decoded).question(); };
static_assert(Askable<DecodedFilter&> && !Askable<DecodedFilter>);

namespace {

// A user with plays in two months' filters, recent plays and served items.
void live(ServingWorld& world) {
  for (int i = 0; i < 50; ++i) world.play_at("u1", "october" + std::to_string(i), kStartMs - 40 * kDayMs);
  for (int i = 0; i < 50; ++i) world.play("u1", "november" + std::to_string(i));
  world.merge();
  world.advance_hours(7);
  world.release();
  for (int i = 0; i < 20; ++i) world.play("u1", "recent" + std::to_string(i));
  for (int i = 0; i < 10; ++i) world.serve("u1", "served" + std::to_string(i));
}

// The user forgets an item of each kind, some before a merge, some after, and plays one again.
void forget_some(ServingWorld& world) {
  world.clock.advance_ms(1);
  for (const char* item : {"october1", "november1", "recent1", "served1"}) world.forget("u1", item);
  world.clock.advance_ms(1);
  world.play("u1", "november1");
  world.merge();
  world.clock.advance_ms(1);
  for (const char* item : {"october2", "november2", "recent2", "served2"}) world.forget("u1", item);
}

std::vector<std::string> questions() {
  std::vector<std::string> items;
  for (const char* kind : {"october", "november", "recent", "served", "never"}) {
    for (int i = 0; i < 60; ++i) items.push_back(kind + std::to_string(i));
  }
  return items;
}

}  // namespace

TEST_CASE("snapshot: answers like the service, what was forgotten included") {
  Served served;
  live(served.world);
  const int forgets = GENERATE(0, 1, 2);
  if (forgets > 0) forget_some(served.world);
  if (forgets > 1) served.world.forget_all("u1");
  const auto client = Client::connect({.server = served.server->address(), .deadline_ms = 30'000, .fail_open = false});
  SnapshotFilter filter = SnapshotFilter::open(client->snapshot("u1", "").value()).value();
  CHECK(filter.complete());
  FilterCall call;
  call.user = "u1";
  call.items = questions();
  const FilterReply reply = client->filter(call).value();
  const std::vector<ItemVerdict> verdicts = filter.filter(call.items);
  REQUIRE(verdicts.size() == reply.items.size());
  for (size_t i = 0; i < verdicts.size(); ++i) {
    CAPTURE(call.items[i]);
    CHECK(verdicts[i].seen == reply.items[i].seen);
    CHECK(verdicts[i].reason == reply.items[i].reason);
    CHECK(verdicts[i].period == reply.items[i].period);
  }
  CHECK(filter.expected_error() == Approx(reply.expected_error));
}

TEST_CASE("snapshot: of an unknown user it is small and says that nothing was seen") {
  Served served;
  const auto client = Client::connect({.server = served.server->address(), .deadline_ms = 30'000});
  const std::string blob = client->snapshot("nobody", "").value();
  CHECK(blob.size() < 100);
  const std::vector<std::string> items = {"v1"};
  CHECK_FALSE(SnapshotFilter::open(blob).value().filter(items)[0].seen);
}

TEST_CASE("snapshot: a damaged filter or a failing store is said, and refused when strict") {
  Served served;
  live(served.world);
  const auto client = Client::connect({.server = served.server->address(), .deadline_ms = 30'000});
  const bool damaged = GENERATE(true, false);
  if (damaged) {
    served.world.store.damage_values();
  } else {
    served.world.store.fail_reads(true);
  }
  SnapshotFilter filter = SnapshotFilter::open(client->snapshot("u1", "").value()).value();
  CHECK_FALSE(filter.complete());
  const std::vector<std::string> items = {"recent1", "november1"};
  CHECK(filter.filter(items)[0].seen);
  CHECK_FALSE(filter.filter(items)[1].seen);
  CHECK_FALSE(client->snapshot("u1", "", true).ok());
}
