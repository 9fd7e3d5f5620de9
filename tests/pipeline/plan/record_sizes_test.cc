#include "pipeline/plan/record_sizes.h"

#include <catch2/catch.hpp>

#include "base/ids.h"

using namespace bloomring;

TEST_CASE("record sizes: a sample key is a valid user key of the length that was asked for, another for each user") {
  for (const uint32_t id_bytes : {1u, 5u, 20u, 36u, 128u}) {
    const std::string key = sample_user_key(id_bytes, 7);
    CHECK(UserKey::valid(key));
    CHECK(UserKey::from_bytes(key).user().size() == id_bytes);
    CHECK(sample_user_key(id_bytes, 8) != key);
  }
}

// bench/RESULTS.md, "Ingest and whole chain": 13.7 bytes a play into user-events at 83,000 plays a second over ten
// partitions. 24 hours of event time pass in 48 seconds there, so the 50 ms of a block hold 90 s of it: about six plays
// of a session, by each of some 70 of 40,000 users, whose ids have six bytes.
TEST_CASE("record sizes: a block of the chain benchmark has the bytes that were measured") {
  const uint32_t plays = 415;
  const double bytes = event_block_bytes({.events = plays, .users = plays / 6, .id_bytes = 6, .span_ms = 90'000});
  CHECK(bytes / plays == Approx(13.7).epsilon(0.05));
}

TEST_CASE("record sizes: a play of a user of its own takes its key, and a longer id its bytes more") {
  const auto of_id = [](uint32_t id_bytes) {
    return event_block_bytes({.events = 64, .users = 64, .id_bytes = id_bytes, .span_ms = 50});
  };
  // Key: two lengths and the id; number of events; kind, item and one byte of time.
  CHECK(of_id(10) / 64 == Approx(1 + 1 + 10 + 1 + 1 + 8 + 1).margin(0.5));
  CHECK(of_id(36) - of_id(10) == 64 * 26);
}

// By the grammar of docs/formats.md: a user has its key, a number of forgets and one of quarters, and a quarter its
// number and that of its items. A third of the users have a second quarter, which takes 2 bytes. An item and its time
// take 8 and 3 bytes; one time in 55 is below 16,384 ms and takes 2 or 1.
TEST_CASE("record sizes: a batch has a part for each user, and one for each play") {
  const BatchSizes sizes = user_batch_sizes(10);
  CHECK(sizes.of_play == Approx(8 + 3 - 1.0 / 55).margin(0.02));
  CHECK(sizes.of_user == Approx(12 + 1 + 1 + 3 + 2.0 / 3 + 1).margin(0.6));
  CHECK(user_batch_sizes(36).of_user - sizes.of_user == Approx(26).margin(0.01));
}
