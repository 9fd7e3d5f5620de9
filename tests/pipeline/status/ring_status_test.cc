#include "pipeline/status/ring_status.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "pipeline/status/status_json.h"

using namespace bloomring;

namespace {

constexpr RingConfig kConfig{.slots = 4, .slot_ms = 1000};

// Hours 4 to 6 with a record each; 6 fills.
Ring ring_of_three() {
  Ring ring(kConfig, Offset(100));
  for (int64_t hour = 4; hour <= 6; ++hour) ring.admit(Offset(96 + hour), hour * 1000, {.events = 2, .bytes = 30});
  return ring;
}

const char* const kStaged =
    R"("staged":[{"slot":0,"start_ms":4000,"state":"sealed","from":100,"to":101,"events":2,"bytes":30},)"
    R"({"slot":1,"start_ms":5000,"state":"sealed","from":101,"to":102,"events":2,"bytes":30},)"
    R"({"slot":2,"start_ms":6000,"state":"filling","from":102,"to":103,"events":2,"bytes":30}]})";

}  // namespace

TEST_CASE("status: a running ring and the state that it stored read the same") {
  const Ring ring = ring_of_three();
  const std::string expected =
      R"({"merged_offset":90,"applied_offset":103,"slot_states":["sealed","sealed","filling","free"],)" +
      std::string(kStaged);
  CHECK(to_json(ring_status(ring, Offset(90))).dump() == expected);
  CHECK(to_json(ring_status(kConfig, ring.state(/*partition_count=*/4), Offset(90))).dump() == expected);
}

TEST_CASE("status: a running ring shows drains, and merged slots without hours") {
  Ring ring = ring_of_three();
  const Drain drain = ring.next_drain().value();
  const std::string draining = to_json(ring_status(ring, std::nullopt)).dump();
  CHECK_THAT(draining, Catch::Contains(R"("merged_offset":null)"));
  CHECK_THAT(draining, Catch::Contains(R"("slot_states":["draining","sealed","filling","free"])"));
  CHECK_THAT(draining, Catch::Contains(R"("slot":0,"start_ms":4000,"state":"draining")"));
  MergedWatermark watermark;
  watermark.offset = Offset(100);
  watermark.add(drain.hours[0].range, drain.hours[0].hour);
  ring.merged(watermark);
  const RingStatus merged = ring_status(ring, Offset(101));
  CHECK(merged.slots[0].state == SlotState::kMerged);
  CHECK_THAT(to_json(merged).dump(), Catch::Contains(R"("staged":[{"slot":1,)"));
}

TEST_CASE("status: of a slot that fills with an older hour on it, only the newer hour fills") {
  Ring ring = ring_of_three();
  ring.admit(Offset(103), 8000, {.events = 1, .bytes = 10});
  const RingStatus stored = ring_status(kConfig, ring.state(/*partition_count=*/4), std::nullopt);
  for (const RingStatus& status : {ring_status(ring, std::nullopt), stored}) {
    const std::string json = to_json(status).dump();
    CHECK_THAT(json, Catch::Contains(R"("slot_states":["filling","sealed","sealed","free"])"));
    CHECK_THAT(json, Catch::Contains(R"({"slot":0,"start_ms":4000,"state":"sealed")"));
    CHECK_THAT(json, Catch::Contains(R"({"slot":0,"start_ms":8000,"state":"filling")"));
    CHECK(json.rfind("8000") > json.rfind("6000"));  // Oldest first, whatever the slot.
  }
}

TEST_CASE("status: the oldest slot that is sealed and not merged is known") {
  Ring ring = ring_of_three();
  CHECK(oldest_unmerged_ms(ring_status(ring, std::nullopt)) == 4000);
  CHECK(oldest_unmerged_ms(ring_status(kConfig, std::nullopt, std::nullopt)) == std::nullopt);
  CHECK(oldest_unmerged_ms(ring_status(Ring(kConfig, Offset(0)), std::nullopt)) == std::nullopt);
}
