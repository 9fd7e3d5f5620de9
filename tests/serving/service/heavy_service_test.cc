// Heavy users and the calls of the service: whatever way a question takes, what was played is seen.
#include <catch2/catch.hpp>
#include <thread>

#include "client/client.h"
#include "client/snapshot_filter.h"
#include "tests/support/heavy_user.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

constexpr int kMonths = 2;

v1::FilterRequest request_of(const HeavyUser& user, const Candidates& asked) {
  v1::FilterRequest request;
  request.set_user(user.name);
  for (const std::string& item : asked.items) request.mutable_candidates()->add_text(item);
  return request;
}

// Played candidates that the answer calls unseen.
size_t missed(const Candidates& asked, const v1::FilterResponse& response) {
  size_t count = 0;
  for (size_t c = 0; c < asked.items.size(); ++c) {
    const bool seen = (static_cast<uint8_t>(response.seen()[c / 8]) >> c % 8 & 1) != 0;
    count += asked.played[c] && !seen ? 1 : 0;
  }
  return count;
}

void live(ServingWorld& world) {
  for (const HeavyUser& user : kHeavyUsers) play_and_merge(world, user, kMonths);
}

}  // namespace

TEST_CASE("heavy user: a call of Filter answers truly, the first one and each later one, whatever user comes next") {
  Served served;
  live(served.world);
  for (const size_t count : {5'000, 1, 20'000, 10'000}) {
    for (const Mix mix : {Mix::kPlayed, Mix::kBoth, Mix::kUnseen}) {
      for (const HeavyUser& user : kHeavyUsers) {
        const Candidates asked = candidates(user, kMonths, count, mix);
        v1::FilterResponse response;
        REQUIRE(served.filter(request_of(user, asked), &response).ok());
        CHECK(response.complete());
        CHECK(missed(asked, response) == 0);
        if (mix == Mix::kUnseen) CHECK(response.seen_count() <= count / 100);
      }
    }
  }
}

TEST_CASE("heavy user: calls at once, each from a thread of its own, answer truly") {
  Served served;
  live(served.world);
  std::vector<size_t> wrong(12);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      const HeavyUser& user = kHeavyUsers[t % kHeavyUsers.size()];
      const Candidates asked = candidates(user, kMonths, 5'000, Mix::kPlayed);
      v1::FilterResponse response;
      const bool answered = served.filter(request_of(user, asked), &response).ok();
      wrong[t] = answered ? missed(asked, response) : asked.items.size();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<size_t>(wrong.size()));
}

TEST_CASE("heavy user: the requests of a batch and calls that are passed on answer truly") {
  Served asked_one({}, false), holder;
  live(holder.world);
  asked_one.partitions.held = nullptr;
  asked_one.partitions.elsewhere = {holder.server->address()};
  v1::FilterBatchRequest batch;
  std::vector<Candidates> asked;
  for (const HeavyUser& user : kHeavyUsers) {
    asked.push_back(candidates(user, kMonths, 6'000, Mix::kBoth));
    *batch.add_requests() = request_of(user, asked.back());
  }
  for (Served* served : {&holder, &asked_one}) {
    grpc::ClientContext context;
    v1::FilterBatchResponse response;
    REQUIRE(served->stub->FilterBatch(&context, batch, &response).ok());
    for (size_t r = 0; r < asked.size(); ++r) {
      const v1::FilterOutcome& outcome = response.outcomes(static_cast<int>(r));
      REQUIRE(outcome.code() == grpc::StatusCode::OK);
      CHECK(outcome.response().complete());
      CHECK(missed(asked[r], outcome.response()) == 0);
    }
  }
}

TEST_CASE("heavy user: a snapshot answers as the service does, before and after some items are forgotten") {
  Served served;
  live(served.world);
  const HeavyUser& user = kHeavyUsers.back();
  const auto client = Client::connect({.server = served.server->address(), .deadline_ms = 30'000, .fail_open = false});
  for (const bool forgotten : {false, true}) {
    if (forgotten) {
      served.world.clock.advance_ms(1);
      for (uint64_t i = 0; i < 10; ++i) served.world.forget(user.name, heavy_item(user, 0, i * 4));
    }
    FilterCall call;
    call.user = user.name;
    call.items = candidates(user, kMonths, 20'000, Mix::kBoth).items;
    SnapshotFilter filter = SnapshotFilter::open(client->snapshot(user.name, "").value()).value();
    CHECK(filter.complete());
    const std::vector<ItemVerdict> by_blob = filter.filter(call.items);
    const FilterReply reply = client->filter(call).value();
    size_t differing = 0, seen = 0;
    for (size_t i = 0; i < call.items.size(); ++i) {
      differing += by_blob[i].seen != reply.items[i].seen || by_blob[i].period != reply.items[i].period ? 1 : 0;
      seen += reply.items[i].seen ? 1 : 0;
    }
    CHECK(differing == 0);
    CHECK(seen >= (forgotten ? 9'900u : 10'000u));
  }
}
