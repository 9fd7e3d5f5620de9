// The formats whose strictness is tested beside their code in tests/state: here their examples in the document.
#include <catch2/catch.hpp>

#include "base/hash.h"
#include "schemas/store_key.h"
#include "state/forgotten.h"
#include "state/store_meta.h"
#include "state/watermark.h"
#include "state/window_state.h"
#include "tests/schemas/documented_example.h"
#include "tests/schemas/forgery.h"

using namespace bloomring;

namespace {

OffsetRange range(int64_t from, int64_t to) { return {Offset(from), Offset(to)}; }

}  // namespace

TEST_CASE("store keys: the bytes of a filter key are those of the document") {
  CHECK(hex(filter_key(key_of("feed", "u1"), PeriodUnit::kMonth, PeriodIndex(683))) ==
        hex(documented_example("Store keys")));
}

TEST_CASE("merged watermark: its bytes are those of the document") {
  MergedWatermark watermark;
  REQUIRE(watermark.add(range(0, 1000), HourIndex(458'143)));
  REQUIRE(watermark.add(range(1500, 2000), HourIndex(458'145)));
  CHECK(hex(encode_watermark(watermark, PartitionId(3), 50)) == hex(documented_example("Merged watermark, version 1")));
}

TEST_CASE("forgotten value: its bytes are those of the document") {
  Forgotten forgotten;
  bool changed = false;
  REQUIRE(forgotten.forget_everything(1'648'771'200'000));
  REQUIRE(forgotten.forget_item(item_hash("v1"), 1'649'316'000'000));
  REQUIRE(forgotten.take_play(item_hash("v1"), 1'649'316'600'000, changed));
  CHECK(hex(encode_forgotten(forgotten, forgotten_key(key_of("feed", "u1")))) ==
        hex(documented_example("Forgotten value, version 1")));
}

TEST_CASE("store description: its bytes are those of the document") {
  CHECK(hex(encode_store_meta(50)) == hex(documented_example("Store description, version 1")));
}

TEST_CASE("window state: its bytes are those of the document") {
  WindowState state;
  state.partition_count = 50;
  state.applied = Offset(1700);
  state.filling = HourIndex(458'144);
  state.newest_play_ms = 1'649'320'200'000;
  state.hours = {{HourIndex(458'143), range(1000, 1500), 20'000, 300'000, 3, 1'649'314'799'000},
                 {HourIndex(458'144), range(1500, 1700), 8'000, 120'000, 0, 1'649'318'399'950}};
  std::string bytes;
  encode_window_state(state, bytes);
  CHECK(hex(bytes) == hex(documented_example("Window state, version 3")));
}
