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

TEST_CASE("time ring: a drain names the earlier hours that are not merged") {
  Rig rig(6);
  for (int64_t hour = 10; hour < 14; ++hour) rig.play_at(hour);
  const Drain tenth = rig.drain_whole();
  CHECK(tenth.earlier.empty());
  const Drain eleventh = rig.drain_whole();
  REQUIRE(eleventh.earlier.size() == 1);
  CHECK(eleventh.earlier[0].hour == HourIndex(10));
  rig.merge(tenth);
  const Drain twelfth = rig.drain_whole();
  REQUIRE(twelfth.earlier.size() == 1);
  CHECK(twelfth.earlier[0].hour == HourIndex(11));
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

TEST_CASE("time ring: records that the log lost end the filling hour, and later ones belong to another") {
  Rig rig(6);
  rig.play_at(10);
  rig.ring.end_filling();
  CHECK(rig.ring.pass_to(Offset(4)));
  CHECK(rig.ring.admit(Offset(4), 10 * kHourMs + 2, {1, 10}) == HourIndex(11));
  const WindowState state = rig.ring.state(1);
  CHECK(state.hours.front().range == OffsetRange{Offset(0), Offset(1)});
  CHECK(state.hours.back().range == OffsetRange{Offset(1), Offset(5)});
}

TEST_CASE("time ring: views drain the same hours at their own pace, and an hour leaves when the last has merged it") {
  Ring ring({.slots = 6, .slot_ms = kHourMs, .views = 2}, Offset(0));
  for (int64_t hour = 10; hour < 12; ++hour) ring.admit(Offset(hour - 10), hour * kHourMs, {1, 10});
  const auto fast = ring.next_drain({}, 0);
  const auto slow = ring.next_drain({}, 1);
  REQUIRE((fast && slow));
  CHECK(fast->id != slow->id);
  CHECK(fast->hours == slow->hours);
  CHECK_FALSE(ring.next_drain({}, 0));  // Each has one at a time.
  ring.drain_finished(fast->id);
  CHECK(ring.drain_current(slow->id));
  MergedWatermark watermark;
  watermark.add(fast->hours[0].range, fast->hours[0].hour);
  CHECK(ring.merged(watermark, 0).empty());
  CHECK(ring.drain_current(slow->id));
  CHECK(ring.slots()[10 % 6].state == SlotState::kDraining);
  CHECK(ring.unmerged_from() == Offset(0));
  CHECK(ring.merged(watermark, 1) == std::vector<HourIndex>{HourIndex(10)});
  CHECK_FALSE(ring.drain_current(slow->id));
  CHECK(ring.slots()[10 % 6].state == SlotState::kMerged);
}

TEST_CASE("time ring: a lap later the view that has merged an hour drains the new one alone, the other one both") {
  Ring ring({.slots = 3, .slot_ms = kHourMs, .views = 2}, Offset(0));
  MergedWatermark watermark;
  for (int64_t hour = 10; hour <= 14; ++hour) {
    ring.admit(Offset(hour - 10), hour * kHourMs, {1, 10});
    while (const auto due = ring.next_drain({}, 0)) {
      REQUIRE(due->hours.size() == 1);
      ring.drain_finished(due->id);
      watermark.add(due->hours[0].range, due->hours[0].hour);
      CHECK(ring.merged(watermark, 0).empty());  // The store of the other view is away.
    }
  }
  CHECK(watermark.offset == Offset(4));
  const Ring restored = *Ring::restore(ring.config(), ring.state(1));
  for (Ring any : {ring, restored}) {
    any.merged(watermark, 0);
    CHECK_FALSE(any.next_drain({}, 0));
    const auto joined = any.next_drain({}, 1);
    REQUIRE(joined);
    CHECK(joined->attempt == DrainAttempt::kLap);
    REQUIRE(joined->hours.size() == 2);
    CHECK(joined->hours[0].hour == HourIndex(10));
    CHECK(joined->hours[1].hour == HourIndex(13));
  }
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
  state.hours = {{HourIndex(5), {Offset(0), Offset(4)}, 1, 1}, {HourIndex(4), {Offset(4), Offset(6)}, 1, 1}};
  state.filling = HourIndex(4);
  state.applied = Offset(6);
  CHECK(Ring::restore({6, kHourMs}, state).code() == Code::kCorrupt);
}

namespace {

// The events of a ring, one at a time.
enum class Step {
  kPlay,
  kPlayNextHour,
  kPlayTwoHoursOn,
  kPlayLapOn,
  kQuietHour,
  kStartDrain,
  kFinishDrain,
  kMergeOldest,
  kMergeNewest,
  kRestart
};
constexpr int kSteps = 10;

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
