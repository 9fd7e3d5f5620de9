#include "state/window/ring.h"

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <set>

#include "tests/support/instrumented.h"

using namespace bloomring;

namespace {

constexpr int64_t kHourMs = 1000;

// Drives a ring by verbs and keeps the books that the ring's guarantees are about.
class Rig {
 public:
  explicit Rig(uint32_t slots) : ring({slots, kHourMs}, Offset(0)) {}

  HourIndex play_at(int64_t hour) { return ring.admit(Offset(next_++), hour * kHourMs + 1, {1, 10}); }
  HourIndex forget_at(int64_t hour) { return ring.admit(Offset(next_++), hour * kHourMs + 1, {1, 10, 1}); }
  void quiet_until(int64_t hour) { ring.advance_clock(hour * kHourMs); }
  Drain drain() {
    auto due = ring.next_drain();
    REQUIRE(due.has_value());
    return *due;
  }
  void no_drain() { REQUIRE_FALSE(ring.next_drain().has_value()); }
  Drain drain_whole() {
    const Drain done = drain();
    ring.drain_finished(done.id);
    return done;
  }
  std::vector<HourIndex> merge(const Drain& drained) {
    for (const StagedHour& staged : drained.hours) watermark.add(staged.range, staged.hour);
    return ring.merged(watermark);
  }
  SlotState state(uint32_t slot) const { return ring.slots()[slot].state; }

  Ring ring;
  MergedWatermark watermark;

 private:
  int64_t next_ = 0;
};

}  // namespace

TEST_CASE("time ring: a drain names the earlier unmerged hours that hold forgets") {
  Rig rig(6);
  rig.play_at(10);
  rig.forget_at(11);
  rig.forget_at(12);
  rig.play_at(13);
  const Drain tenth = rig.drain_whole();
  CHECK(tenth.earlier.empty());
  const Drain eleventh = rig.drain_whole();
  CHECK(eleventh.hours[0].forgets == 1);
  CHECK(eleventh.earlier.empty());
  const Drain twelfth = rig.drain_whole();
  REQUIRE(twelfth.earlier.size() == 1);
  CHECK(twelfth.earlier[0].hour == HourIndex(11));
  rig.merge(tenth);
  rig.merge(eleventh);
  rig.play_at(14);
  CHECK(rig.drain_whole().attempt == DrainAttempt::kSecond);  // Of hour 12.
  const Drain thirteenth = rig.drain_whole();
  REQUIRE(thirteenth.hours[0].hour == HourIndex(13));
  REQUIRE(thirteenth.earlier.size() == 1);
  CHECK(thirteenth.earlier[0].hour == HourIndex(12));
}

TEST_CASE("time ring: an hour that was merged in an earlier life never fills again") {
  Ring ring({6, kHourMs}, Offset(40), HourIndex(12));
  CHECK(ring.admit(Offset(40), 10 * kHourMs, {1, 1}) == HourIndex(12));
  CHECK(ring.admit(Offset(41), 12 * kHourMs + 5, {1, 1}) == HourIndex(12));
  CHECK(ring.admit(Offset(42), 13 * kHourMs, {1, 1}) == HourIndex(13));
}

TEST_CASE("time ring: the trigger of hour h drains the slot of h-1, never the one that is filling") {
  Rig rig(6);
  rig.play_at(10);
  rig.no_drain();
  rig.play_at(11);
  const Drain first = rig.drain();
  CHECK(first.attempt == DrainAttempt::kFirst);
  CHECK(first.hours.size() == 1);
  CHECK(first.hours[0].hour == HourIndex(10));
  CHECK(first.hours[0].range == OffsetRange{Offset(0), Offset(1)});
  CHECK(rig.state(10 % 6) == SlotState::kDraining);
  CHECK(rig.state(11 % 6) == SlotState::kFilling);
  rig.no_drain();
}

TEST_CASE("time ring: a merged slot lets its data go and is filled again a lap later") {
  Rig rig(6);
  rig.play_at(10);
  rig.play_at(11);
  const Drain drained = rig.drain_whole();
  CHECK(rig.merge(drained) == std::vector<HourIndex>{HourIndex(10)});
  CHECK(rig.state(10 % 6) == SlotState::kMerged);
  rig.play_at(16);
  CHECK(rig.state(16 % 6) == SlotState::kFilling);
  CHECK(rig.ring.laps() == 0);
}

TEST_CASE("time ring: a slot that is not merged an hour later is drained again") {
  Rig rig(6);
  rig.play_at(10);
  rig.play_at(11);
  rig.drain_whole();
  rig.no_drain();
  rig.play_at(12);
  const Drain second = rig.drain();
  CHECK(second.attempt == DrainAttempt::kSecond);
  CHECK(second.hours[0].hour == HourIndex(10));
  rig.ring.drain_finished(second.id);
  const Drain first_of_11 = rig.drain();
  CHECK(first_of_11.attempt == DrainAttempt::kFirst);
  CHECK(first_of_11.hours[0].hour == HourIndex(11));
}

TEST_CASE("time ring: a failed first run is repaired by the second run an hour later") {
  Rig rig(6);
  rig.play_at(10);
  rig.play_at(11);
  rig.ring.drain_failed(rig.drain().id);
  CHECK(rig.state(10 % 6) == SlotState::kSealed);
  rig.no_drain();
  rig.play_at(12);
  const Drain second = rig.drain_whole();
  CHECK(second.attempt == DrainAttempt::kSecond);
  CHECK(rig.merge(second) == std::vector<HourIndex>{HourIndex(10)});
}

TEST_CASE("time ring: a slot that missed both runs is drained a lap later with the data that joined it") {
  Rig rig(4);
  rig.play_at(10);
  for (int64_t hour = 11; hour < 14; ++hour) {
    rig.play_at(hour);
    while (auto due = rig.ring.next_drain()) {
      rig.ring.drain_finished(due->id);
      if (due->hours[0].hour != HourIndex(10)) rig.merge(*due);
    }
  }
  CHECK(rig.state(10 % 4) == SlotState::kDraining);
  rig.play_at(14);  // The ring comes round to the slot of 10.
  CHECK(rig.ring.laps() == 1);
  CHECK(rig.state(14 % 4) == SlotState::kFilling);
  rig.drain_whole();  // Of hour 13.
  rig.no_drain();     // The joined slot is filling.
  rig.play_at(15);
  const Drain lap = rig.drain_whole();
  CHECK(lap.attempt == DrainAttempt::kLap);
  REQUIRE(lap.hours.size() == 2);
  CHECK(lap.hours[0].hour == HourIndex(10));
  CHECK(lap.hours[1].hour == HourIndex(14));
  CHECK(rig.merge(lap) == std::vector<HourIndex>{HourIndex(10), HourIndex(14)});
}

TEST_CASE("time ring: a drain that the ring comes round to goes on, and what joined its slot is drained after it") {
  Rig rig(3);
  rig.play_at(10);
  rig.play_at(11);
  const Drain slow = rig.drain();
  for (int64_t hour = 12; hour <= 17; ++hour) {
    rig.play_at(hour);
    CHECK(rig.ring.drain_current(slow.id));
    rig.no_drain();
  }
  CHECK(rig.state(10 % 3) == SlotState::kSealed);
  SECTION("it ends") {
    rig.ring.drain_finished(slow.id);
    CHECK(rig.merge(slow) == std::vector<HourIndex>{HourIndex(10)});
  }
  SECTION("it fails") { rig.ring.drain_failed(slow.id); }
  SECTION("it was merged while it went on") {
    rig.merge(slow);
    CHECK_FALSE(rig.ring.drain_current(slow.id));
    rig.ring.drain_finished(slow.id);  // Changes nothing.
  }
  CHECK(rig.state(10 % 3) == SlotState::kSealed);
  std::set<int64_t> drained;
  for (int i = 0; i < 2; ++i) {
    for (const StagedHour& staged : rig.drain_whole().hours) drained.insert(staged.hour.value);
  }
  drained.erase(10);
  CHECK(drained == std::set<int64_t>{12, 13, 15, 16});
}

TEST_CASE("time ring: a drain that lasts for hours is not repeated when it has ended, but an hour later") {
  Rig rig(6);
  rig.play_at(10);
  rig.play_at(11);
  const Drain slow = rig.drain();
  rig.quiet_until(14);
  rig.ring.drain_finished(slow.id);
  CHECK(rig.drain_whole().hours[0].hour == HourIndex(11));
  rig.no_drain();
  rig.quiet_until(15);
  CHECK(rig.drain_whole().hours[0].hour == HourIndex(10));
}

TEST_CASE("time ring: a quiet partition seals by the clock, and hours without records leave nothing behind") {
  Rig rig(6);
  rig.play_at(10);
  rig.quiet_until(11);
  CHECK(rig.drain_whole().hours[0].hour == HourIndex(10));
  rig.quiet_until(12);
  rig.quiet_until(13);
  CHECK(rig.state(11 % 6) == SlotState::kFree);
  CHECK(rig.state(12 % 6) == SlotState::kFree);
  CHECK(rig.drain().hours[0].hour == HourIndex(10));  // The second run: nobody has merged it.
}

TEST_CASE("time ring: log time that goes back stays in the filling hour") {
  Rig rig(6);
  CHECK(rig.play_at(10) == HourIndex(10));
  CHECK(rig.play_at(12) == HourIndex(12));
  CHECK(rig.play_at(9) == HourIndex(12));
}

TEST_CASE("time ring: a forget is late when a play of earlier hours is newer, also one that is ahead of its log time") {
  Ring ring({6, kHourMs}, Offset(0));
  const auto late_before_ms = [&] { return ring.state(1).hours.back().late_before_ms; };
  ring.admit(Offset(0), 10'001, {.events = 1, .newest_play_ms = 9'900});
  CHECK(late_before_ms() == 0);  // There is nothing before it.
  ring.admit(Offset(1), 10'300, {.events = 2, .newest_play_ms = 10'200});
  ring.advance_clock(11'000);  // A clock that is ahead ends the hour early.
  ring.admit(Offset(2), 10'400, {.events = 1, .newest_play_ms = 10'350});
  CHECK(late_before_ms() == 10'200);
  ring.admit(Offset(3), 12'001, {});
  CHECK(late_before_ms() == 10'350);
  ring.admit(Offset(4), 12'500, {.events = 1, .newest_play_ms = 13'700});  // The clock of ingest is ahead.
  ring.admit(Offset(5), 13'001, {.events = 1, .newest_play_ms = 12'900});
  CHECK(late_before_ms() == 13'700);
  auto restored = Ring::restore({6, kHourMs}, ring.state(1)).value();
  CHECK(restored.state(1) == ring.state(1));
  restored.advance_clock(14'000);
  restored.admit(Offset(6), 13'500, {});
  CHECK(restored.state(1).hours.back().late_before_ms == 13'700);
}

TEST_CASE("time ring: without the record before its base, plays below it were logged before its first record") {
  // Where hours were merged ahead of a gap the first hour may be one of theirs: then it is later than the log says.
  const int64_t first_hour = GENERATE(11, 12);
  Ring ring({6, kHourMs}, Offset(50), HourIndex(first_hour));
  ring.admit(Offset(50), 11'500, {.events = 1, .newest_play_ms = 11'400});
  CHECK(ring.state(1).hours.back().late_before_ms == 11'500);
  ring.advance_clock(13'000);
  ring.admit(Offset(51), 11'700, {.events = 1, .newest_play_ms = 11'600});
  CHECK(ring.state(1).hours.back().late_before_ms == 11'500);
}

TEST_CASE(
    "time ring: of the plays below its base it is known that they were logged no later than the record before it") {
  Ring ring({6, kHourMs}, Offset(50), HourIndex(11));
  ring.set_base_log_time(11'200);
  ring.admit(Offset(50), 11'500, {.forgets = 1});  // It happened at 11.45: after every play that is merged.
  CHECK(ring.state(1).hours.back().late_before_ms == 11'200);
  ring.advance_clock(12'000);
  ring.admit(Offset(51), 12'100, {.events = 1, .newest_play_ms = 12'050});
  CHECK(ring.state(1).hours.back().late_before_ms == 11'200);
}

TEST_CASE("time ring: plays among records that the log lost unread were logged before the first record behind them") {
  Ring before({6, kHourMs}, Offset(0));
  before.admit(Offset(0), 10'200, {.events = 2, .forgets = 1, .newest_play_ms = 10'100});
  Ring ring = Ring::restore({6, kHourMs}, before.state(1)).value();  // Others have merged a play of 10.9 from offset 2.
  ring.lost_records();
  const auto late_before_ms = [&](size_t hour) { return ring.state(1).hours[hour].late_before_ms; };
  CHECK(ring.pass_to(Offset(4)));
  if (GENERATE(false, true)) ring.advance_clock(11'000);
  if (GENERATE(false, true)) ring.advance_clock(12'000);
  if (GENERATE(false, true)) ring = Ring::restore({6, kHourMs}, ring.state(1)).value();
  const int64_t log_time_ms = GENERATE(10'950, 11'300, 12'400);  // In the hour that was filling, the next and another.
  ring.admit(Offset(4), log_time_ms, {.events = 1, .forgets = 1});
  const WindowState state = ring.state(1);
  CHECK(state.hours.front().range == OffsetRange{Offset(0), Offset(1)});
  CHECK(late_before_ms(0) == 0);  // What it forgets was logged before the lost records.
  CHECK(state.hours.back().late_before_ms == log_time_ms);
  ring.admit(Offset(5), 13'000, {});
  CHECK(ring.state(1).hours.back().late_before_ms == log_time_ms);
}

TEST_CASE("time ring: the state that is saved gives the same ring back, with its drains due again") {
  Rig rig(6);
  for (int64_t hour = 10; hour < 14; ++hour) rig.play_at(hour);
  rig.drain_whole();
  const WindowState saved = rig.ring.state(8);
  auto restored = Ring::restore({6, kHourMs}, saved);
  REQUIRE(restored.ok());
  CHECK(restored->state(8) == saved);
  CHECK(restored->next_drain()->hours[0].hour == HourIndex(10));
  CHECK(restored->applied() == Offset(4));
}

TEST_CASE("time ring: a state that no ring can have had is refused") {
  WindowState state;
  CHECK(Ring::restore({6, kHourMs}, state).code() == Code::kCorrupt);
  state.hours = {{HourIndex(5), {Offset(0), Offset(4)}, 1, 1, 0}, {HourIndex(4), {Offset(4), Offset(6)}, 1, 1, 0}};
  state.filling = HourIndex(4);
  state.applied = Offset(6);
  CHECK(Ring::restore({6, kHourMs}, state).code() == Code::kCorrupt);
}

namespace {

// What may happen to a ring, one at a time.
enum class Step {
  kPlay,
  kPlayNextHour,
  kPlayTwoHoursOn,
  kPlayLapOn,
  kQuietHour,
  kStartDrain,
  kFinishDrain,
  kFailDrain,
  kMergeOldest,
  kMergeNewest,
  kRestart
};
constexpr int kSteps = 11;

// A ring with the model it is compared with: which offsets are merged, and which drains were emitted.
struct Model {
  Ring ring{RingConfig{3, kHourMs}, Offset(0)};
  MergedWatermark watermark;
  int64_t next = 0;
  int64_t hour = 0;
  std::optional<Drain> active;
  std::vector<Drain> emitted;  // Finished and not yet merged.
  std::set<int64_t> released;
  std::map<int64_t, int64_t> hour_of_offset;

  void play(int64_t at) {
    hour = std::max(hour, at);
    hour_of_offset[next] = ring.admit(Offset(next), hour * kHourMs, {1, 1}).value;
    ++next;
  }

  void merge(size_t index) {
    if (index >= emitted.size()) return;
    for (const StagedHour& staged : emitted[index].hours) watermark.add(staged.range, staged.hour);
    emitted.erase(emitted.begin() + static_cast<std::ptrdiff_t>(index));
    for (const HourIndex freed : ring.merged(watermark)) released.insert(freed.value);
  }

  void apply(Step step) {
    switch (step) {
      case Step::kPlay: play(hour); break;
      case Step::kPlayNextHour: play(hour + 1); break;
      case Step::kPlayTwoHoursOn: play(hour + 2); break;
      case Step::kPlayLapOn: play(hour + 3); break;
      case Step::kQuietHour:
        if (next > 0) ring.advance_clock(++hour * kHourMs);
        break;
      case Step::kStartDrain: start(); break;
      case Step::kFinishDrain: finish(); break;
      case Step::kFailDrain:
        if (active) ring.drain_failed(active->id);
        active.reset();
        break;
      case Step::kMergeOldest: merge(0); break;
      case Step::kMergeNewest: merge(emitted.empty() ? 0 : emitted.size() - 1); break;
      case Step::kRestart:
        if (next == 0) break;
        ring = *Ring::restore(ring.config(), ring.state(1));
        active.reset();
        break;
    }
  }

  void start() {
    auto due = ring.next_drain();
    if (!due) return;
    for (const StagedHour& staged : due->hours) {
      REQUIRE(staged.range.from < staged.range.to);
      REQUIRE(staged.hour < filling());  // Never the filling hour.
    }
    active = std::move(due);
  }

  void finish() {
    if (!active) return;
    if (ring.drain_current(active->id)) {
      ring.drain_finished(active->id);
      emitted.push_back(*active);
    }
    active.reset();
  }

  HourIndex filling() const { return ring.state(1).filling; }

  void check() const {
    // Every offset is merged, or in exactly one hour that the ring still holds: nothing freed early, nothing twice.
    const WindowState state = ring.state(1);
    for (int64_t offset = 0; offset < next; ++offset) {
      int held = 0;
      for (const StagedHour& staged : state.hours)
        held += staged.range.from.value <= offset && offset < staged.range.to.value;
      const bool merged = watermark.covers({Offset(offset), Offset(offset + 1)});
      REQUIRE(held <= 1);
      REQUIRE((held == 1 || merged));
    }
    int filling_slots = 0;
    for (const auto& slot : ring.slots()) {
      filling_slots += slot.state == SlotState::kFilling;
      const bool empty = slot.state == SlotState::kFree || slot.state == SlotState::kMerged;
      REQUIRE(empty == slot.hours.empty());
    }
    REQUIRE(filling_slots == (next > 0 ? 1 : 0));
    REQUIRE(ring.unmerged_from().value <= next);
  }

  // From any state, two laps of ordinary hours merge everything.
  void check_it_gets_well() const {
    Model well = *this;
    if (well.next == 0) return;
    for (int i = 0; i < 7; ++i) {
      well.apply(Step::kPlayNextHour);
      if (well.active) well.apply(Step::kFinishDrain);
      for (int runs = 0; runs < 4; ++runs) {
        well.apply(Step::kStartDrain);
        well.apply(Step::kFinishDrain);
      }
      while (!well.emitted.empty()) well.merge(0);
    }
    REQUIRE(well.watermark.offset.value == well.next - 1);
  }
};

void explore(const Model& model, int depth) {
  model.check();
  if (depth == 0) {
    model.check_it_gets_well();
    return;
  }
  for (int step = 0; step < kSteps; ++step) {
    Model next = model;
    next.apply(static_cast<Step>(step));
    explore(next, depth - 1);
  }
}

}  // namespace

TEST_CASE(
    "time ring: in every sequence of five steps nothing is freed unmerged, drained while filling, or left behind") {
  explore(Model{}, kInstrumented ? 4 : 5);
}

TEST_CASE("time ring: in random sequences of three hundred steps nothing is freed unmerged or left behind") {
  uint64_t seed = 1;
  for (int run = 0; run < rounds(300); ++run) {
    Model model;
    for (int step = 0; step < 300; ++step) {
      seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
      model.apply(static_cast<Step>((seed >> 33) % kSteps));
      if (step % 10 == 0) model.check();
    }
    CAPTURE(run);
    model.check();
    model.check_it_gets_well();
  }
}
