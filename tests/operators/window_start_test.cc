#include "operators/window_start.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

WindowState local(int64_t base, int64_t applied) {
  WindowState state;
  state.applied = Offset(applied);
  state.filling = HourIndex(7);
  state.hours = {{HourIndex(7), {Offset(base), Offset(applied)}, 1, 1}};
  return state;
}

MergedWatermark merged(int64_t offset) {
  MergedWatermark watermark;
  watermark.offset = Offset(offset);
  return watermark;
}

}  // namespace

TEST_CASE("window start: with its disk a partition continues at its applied offset") {
  const auto start = decide_window_start({local(100, 250), merged(150), Offset(0), Offset(300)});
  REQUIRE(start.ok());
  CHECK(start->resume);
  CHECK(start->read_from == Offset(250));
}

TEST_CASE("window start: without its disk a partition reads from the merged watermark") {
  const auto start = decide_window_start({std::nullopt, merged(150), Offset(0), Offset(300)});
  REQUIRE(start.ok());
  CHECK_FALSE(start->resume);
  CHECK(start->read_from == Offset(150));
  CHECK(start->base == Offset(150));
}

TEST_CASE("window start: the first start reads the log from its start, and what is gone before it does not count as lost") {
  const auto start = decide_window_start({std::nullopt, std::nullopt, Offset(40), Offset(300)});
  REQUIRE(start.ok());
  CHECK(start->read_from == Offset(40));
  CHECK(start->base == Offset(0));
}

TEST_CASE("window start: local state that another owner went past is wiped") {
  const auto start = decide_window_start({local(100, 250), merged(280), Offset(0), Offset(300)});
  REQUIRE(start.ok());
  CHECK_FALSE(start->resume);
  CHECK(start->read_from == Offset(280));
}

TEST_CASE("window start: a filter store that went back to a backup makes the partition read from its older watermark") {
  const auto start = decide_window_start({local(200, 250), merged(120), Offset(0), Offset(300)});
  REQUIRE(start.ok());
  CHECK_FALSE(start->resume);
  CHECK(start->read_from == Offset(120));
}

TEST_CASE("window start: events that are neither merged nor in the log stop the partition with their number and the way out") {
  const auto start = decide_window_start({std::nullopt, merged(100), Offset(175), Offset(300)});
  REQUIRE(start.code() == Code::kFatal);
  CHECK(start.status().message().find("75 records") != std::string::npos);
  CHECK(start.status().message().find("state.accept_lost_events") != std::string::npos);
  const auto accepted = decide_window_start({std::nullopt, merged(100), Offset(175), Offset(300), true});
  REQUIRE(accepted.ok());
  CHECK(accepted->read_from == Offset(175));
  CHECK(accepted->base == Offset(100));
}

TEST_CASE("window start: a log that ends before the watermark is another log and is refused") {
  CHECK(decide_window_start({std::nullopt, merged(400), Offset(0), Offset(300)}).code() == Code::kFatal);
}

TEST_CASE("window start: local state beyond the log's end or before its start is not used") {
  CHECK_FALSE(decide_window_start({local(100, 350), merged(150), Offset(0), Offset(300)})->resume);
  CHECK_FALSE(decide_window_start({local(100, 160), merged(160), Offset(170), Offset(300), true})->resume);
}
