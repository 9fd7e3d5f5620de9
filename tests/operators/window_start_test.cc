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

TEST_CASE(
    "window start: with its disk a partition continues at its applied offset, after a look at the record before it") {
  const auto start = decide_window_start({local(100, 250), merged(150), Offset(0), Offset(300)});
  REQUIRE(start.ok());
  CHECK(start->resume);
  CHECK(start->read_from == Offset(249));
  CHECK(start->reason.find("applied offset 250") != std::string::npos);
}

TEST_CASE("window start: without its disk a partition reads from the merged watermark") {
  const auto start = decide_window_start({std::nullopt, merged(150), Offset(0), Offset(300)});
  REQUIRE(start.ok());
  CHECK_FALSE(start->resume);
  CHECK(start->read_from == Offset(149));
  CHECK(start->base == Offset(150));
}

TEST_CASE(
    "window start: the first start reads the log from its start, and what is gone before it does not count as lost") {
  const auto start = decide_window_start({std::nullopt, std::nullopt, Offset(40), Offset(300)});
  REQUIRE(start.ok());
  CHECK(start->read_from == Offset(40));
  CHECK(start->base == Offset(0));
}

TEST_CASE("window start: local state that another owner went past is wiped") {
  const auto start = decide_window_start({local(100, 250), merged(280), Offset(0), Offset(300)});
  REQUIRE(start.ok());
  CHECK_FALSE(start->resume);
  CHECK(start->read_from == Offset(279));
}

TEST_CASE("window start: a filter store that went back to a backup makes the partition read from its older watermark") {
  const auto start = decide_window_start({local(200, 250), merged(120), Offset(0), Offset(300)});
  REQUIRE(start.ok());
  CHECK_FALSE(start->resume);
  CHECK(start->read_from == Offset(119));
}

TEST_CASE(
    "window start: events that are neither merged nor in the log stop the partition with their number and the way "
    "out") {
  const auto start = decide_window_start({std::nullopt, merged(100), Offset(175), Offset(300)});
  REQUIRE(start.code() == Code::kFatal);
  CHECK(start.status().message().find("75 records") != std::string::npos);
  CHECK(start.status().message().find("state.accept_lost_events") != std::string::npos);
  const auto accepted = decide_window_start({std::nullopt, merged(100), Offset(175), Offset(300), true});
  REQUIRE(accepted.ok());
  CHECK(accepted->read_from == Offset(175));
  CHECK(accepted->base == Offset(100));
}

TEST_CASE("window start: a log that ends before the watermark is refused, in case that it is another one") {
  CHECK(decide_window_start({std::nullopt, merged(400), Offset(0), Offset(300)}).code() == Code::kRetry);
}

TEST_CASE(
    "window start: a log that ends before what was read once stops the partition with the number and the way out") {
  const auto start = decide_window_start({local(100, 350), merged(150), Offset(0), Offset(300)});
  REQUIRE(start.code() == Code::kRetry);
  CHECK(start.status().message().find("50 records or more are lost") != std::string::npos);
  CHECK(start.status().message().find("store new-log") != std::string::npos);
}

TEST_CASE(
    "window start: no word of the operator makes it read a log that was cut: slot ends may speak of what is gone") {
  CHECK(decide_window_start({local(100, 350), merged(150), Offset(0), Offset(300), true}).code() == Code::kRetry);
  CHECK(decide_window_start({std::nullopt, merged(400), Offset(0), Offset(300), true}).code() == Code::kRetry);
}

TEST_CASE("window start: a log that ends before what is merged beyond a gap is refused") {
  MergedWatermark watermark = merged(150);
  watermark.add({Offset(250), Offset(350)}, HourIndex(9));
  CHECK(decide_window_start({std::nullopt, watermark, Offset(0), Offset(349)}).code() == Code::kRetry);
  CHECK(decide_window_start({std::nullopt, watermark, Offset(0), Offset(350)}).ok());
}

TEST_CASE(
    "window start: records that retention removed before they were read are counted, and what is staged is kept") {
  const auto start = decide_window_start({local(100, 160), merged(120), Offset(170), Offset(300)});
  REQUIRE(start.code() == Code::kFatal);
  CHECK(start.status().message().find("10 records from offset 160") != std::string::npos);
  const auto accepted = decide_window_start({local(100, 160), merged(120), Offset(170), Offset(300), true});
  REQUIRE(accepted.ok());
  CHECK(accepted->resume);
  CHECK(accepted->read_from == Offset(170));
}

TEST_CASE("window start: local state that holds what retention has removed is used, so that nothing is lost") {
  const auto start = decide_window_start({local(100, 250), merged(120), Offset(200), Offset(300)});
  REQUIRE(start.ok());
  CHECK(start->resume);
}

TEST_CASE("window start: a backup without an hour that was merged ahead of others makes the partition read it again") {
  WindowState state = local(100, 200);
  state.hours.push_back({HourIndex(9), {Offset(300), Offset(350)}, 1, 1});  // Hour 8, [200, 300), was let go.
  state.applied = Offset(350);
  MergedWatermark watermark = merged(100);
  watermark.add({Offset(200), Offset(300)}, HourIndex(8));
  CHECK(decide_window_start({state, watermark, Offset(0), Offset(400)})->resume);
  const auto start = decide_window_start({state, merged(100), Offset(0), Offset(400)});
  REQUIRE(start.ok());
  CHECK_FALSE(start->resume);
  CHECK(start->read_from == Offset(99));
}

TEST_CASE("window start: another length of slots is refused, unless the watermark was given it when all was merged") {
  WindowState state = local(100, 250);
  MergedWatermark watermark = merged(250);
  const auto decide = [&](int64_t slot_ms) {
    return decide_window_start({state, watermark, Offset(0), Offset(250), false, slot_ms});
  };
  CHECK(decide(5'000)->resume);  // Nothing says how long the hours are.
  state.slot_ms = 2'000;
  CHECK(decide(2'000)->resume);
  CHECK(decide(5'000).code() == Code::kInvalid);
  watermark.slot_ms = 2'000;
  CHECK(decide(2'000)->resume);
  const Status refused = decide(5'000).status();
  CHECK(refused.code() == Code::kInvalid);
  CHECK_THAT(refused.message(), Catch::Contains("the merged watermark was written with 2"));
  watermark.slot_ms = 5'000;
  watermark.hour = HourIndex(3);
  const auto changed = decide(5'000);
  REQUIRE(changed.ok());
  CHECK_FALSE(changed->resume);  // Its hours have old numbers.
  CHECK(changed->base == Offset(250));
  CHECK(changed->first_hour == HourIndex(4));
}

TEST_CASE("window start: with several views a partition continues when its disk serves each, else behind the slowest") {
  WindowState state = local(100, 250);
  state.views = {{"filters"}, {"history"}};
  const WindowStartFacts facts{state, std::nullopt, Offset(0), Offset(300)};
  const auto started = [&](const WindowStartFacts& of, std::optional<MergedWatermark> history) {
    const std::vector<ViewWatermark> views{{"filters", merged(200)}, {"history", std::move(history)}};
    return decide_window_start(of, views).value();
  };
  CHECK(started(facts, merged(120)).resume);
  // The store of history went back to a backup; history is new; its notes are not in the state.
  const WindowStart back = started(facts, merged(40));
  CHECK_FALSE(back.resume);
  CHECK(back.base == Offset(40));
  CHECK(back.read_from == Offset(39));
  const WindowStart fresh = started(facts, std::nullopt);
  CHECK_FALSE(fresh.resume);
  CHECK(fresh.base == Offset(0));
  CHECK(fresh.merged_below);  // Of filters: a forget may be late.
  WindowStartFacts without = facts;
  without.local->views.pop_back();
  CHECK_FALSE(started(without, merged(120)).resume);
  CHECK(started(without, merged(120)).base == Offset(120));
  // A store is away: local state says enough, nothing else does.
  const std::vector<ViewWatermark> away{{"filters", merged(200)}, {"history", std::nullopt, true}};
  CHECK(decide_window_start(facts, away).value().resume);
  for (const WindowStartFacts& of : {without, WindowStartFacts{std::nullopt, {}, Offset(0), Offset(300)}}) {
    const auto start = decide_window_start(of, away);
    CHECK(start.code() == Code::kRetry);
    CHECK(start.status().message().find("view history is away") != std::string::npos);
  }
  const std::vector<ViewWatermark> all_away{{"filters", std::nullopt, true}, {"history", std::nullopt, true}};
  CHECK(decide_window_start(facts, all_away).code() == Code::kRetry);
  // A log that was cut is refused before a state that lacks a view is dropped.
  WindowStartFacts cut = without;
  cut.log_end = Offset(249);
  CHECK(decide_window_start(cut, away).status().message().find("250 were read once") != std::string::npos);
  // One that was made again is told by what is merged first: that keeps the filters.
  cut.log_end = Offset(0);
  CHECK(decide_window_start(cut, away).status().message().find("merged below offset 200") != std::string::npos);
  // The records that one view lacks are lost, though the others have it.
  WindowStartFacts gone = facts;
  gone.local.reset();
  gone.log_start = Offset(150);
  const std::vector<ViewWatermark> views{{"filters", merged(200)}, {"history", merged(120)}};
  CHECK(decide_window_start(gone, views).code() == Code::kFatal);
  gone.accept_lost_events = true;
  CHECK(decide_window_start(gone, views).value().lost);
}
