#include "pipeline/kafka/producer/ack_list.h"

#include <catch2/catch.hpp>

using namespace bloomring;
using bloomring::kafka::AckList;

TEST_CASE("ack list: each ticket is taken once, in its order, with the newest time of those that were added") {
  AckList acks;
  std::vector<uint64_t> tickets;
  int64_t time_ms = -1;
  REQUIRE(acks.take(tickets, time_ms).ok());
  CHECK(time_ms == 0);
  const uint64_t first[] = {1, 2}, second[] = {5};
  acks.add(first, 2'000);
  acks.add(second, 1'000);
  REQUIRE(acks.take(tickets, time_ms).ok());
  CHECK(tickets == std::vector<uint64_t>{1, 2, 5});
  CHECK(time_ms == 2'000);
  REQUIRE(acks.take(tickets, time_ms).ok());
  CHECK(tickets == std::vector<uint64_t>{1, 2, 5});
  CHECK(time_ms == 0);
}

TEST_CASE("ack list: the first failure is told at every call, with the tickets that came all the same") {
  AckList acks;
  acks.fail(fatal("the topic is gone"));
  acks.fail(retry("later"));
  const uint64_t ticket[] = {9};
  acks.add(ticket, 7);
  for (int call = 0; call < 2; ++call) {
    std::vector<uint64_t> tickets;
    int64_t time_ms = 0;
    const Status failure = acks.take(tickets, time_ms);
    CHECK(failure.code() == Code::kFatal);
    CHECK_THAT(failure.message(), Catch::Contains("the topic is gone"));
    CHECK(tickets.size() == (call == 0 ? 1 : 0));
  }
}
