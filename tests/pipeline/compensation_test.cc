// Compensation (state/ring.h) on the manual clock: window, merge and serve tasks of one partition over a log that
// is in order, with merging held up for as long as a test says. Times are hours of the ring; a trigger comes at each
// full hour.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/hash.h"
#include "pipeline/merge_task.h"
#include "pipeline/replica_task.h"
#include "pipeline/window_task.h"
#include "schemas/event_block.h"
#include "serving/candidate_filter.h"
#include "state/memory_filter_store.h"
#include "tests/simulation/sim_disk.h"
#include "tests/simulation/sim_log.h"

namespace bloomring::simulation {
namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kStartMs = 1'795'046'400'000;  // A full hour.
constexpr int64_t kStepMs = 20'000;
constexpr uint32_t kSlots = 6;
const PartitionId kPartition(0);
const UserKey kUser("", "u1");

class Scenario {
 public:
  Scenario() {
    log_.trouble = 0;
    WindowTaskConfig window;
    window.window = {kPartition, 1, ring_, {}, 0.5};
    window_ = std::make_unique<WindowTask>(window, clock_, std::make_unique<SimWindowStore>(disk_),
                                           Ring(ring_, Offset(0)), filters_, source("window", "user-events", Offset(0)),
                                           std::make_unique<SimSink>(log_));
    start_merge(Offset(0));
    held_ =
        std::make_shared<HeldPartition>(kPartition, RecentPlaysConfig{ring_.slot_ms, 64 << 20}, calendar_, Offset(0));
    replica_ = std::make_unique<ReplicaTask>(ReplicaTaskConfig{1, ring_.slot_ms * kSlots}, held_, filters_,
                                             source("serve", "user-events", Offset(0)), Offset(0), Offset(0));
  }

  void play(const std::string& item) {
    EventBlockBuilder builder;
    builder.add(kUser.bytes(), user_hash(kUser.bytes()), {EventKind::kPlay, item_hash(item), clock_.now_ms()});
    log_.append("user-events", kPartition, builder.finish(kPartition, 1));
    played_.push_back(item_hash(item));
    step();
  }

  // Lets time pass to this many hours after the start; everything that runs steps every kStepMs.
  void advance_to(double hours) {
    const int64_t until_ms = kStartMs + static_cast<int64_t>(hours * static_cast<double>(kHourMs));
    for (; clock_.now_ms() < until_ms; clock_.advance_ms(kStepMs)) step();
  }

  // The wall clock of the window process is wrong by so many hours.
  void set_window_clock_off(double hours) {
    window_clock_off_ms_ = static_cast<int64_t>(hours * static_cast<double>(kHourMs));
  }
  void pause_merging() { merging_ = false; }
  void resume_merging() { merging_ = true; }
  // The batches that nobody has read leave their topic: merging goes on behind a gap.
  void lose_unread_batches() {
    const auto log_end = static_cast<int64_t>(log_.partition("user-batches", kPartition).size());
    start_merge(Offset(log_end));
  }
  void store_away_until(double hours) {
    filters_.fail_until_ms(kStartMs + static_cast<int64_t>(hours * static_cast<double>(kHourMs)));
  }

  uint64_t drains(DrainAttempt attempt) const { return window_->window().stats().drains[static_cast<size_t>(attempt)]; }
  size_t slots(SlotState state) const {
    size_t count = 0;
    for (const Ring::SlotView& slot : window_->window().ring().slots()) count += slot.state == state;
    return count;
  }
  int64_t merged_offset() { return filters_.read_watermark(kPartition)->value_or(MergedWatermark{}).offset.value; }
  int64_t log_end() { return static_cast<int64_t>(log_.partition("user-events", kPartition).size()); }
  // Wall times, as hours after the start, at which records of drains were sent.
  std::vector<double> drained_at() const { return drained_at_; }

  void expect_all_seen() {
    CandidateFilter core(filters_, calendar_, clock_, {});
    FilterQuestion question;
    question.user_key = kUser.bytes();
    question.ids = played_;
    CHECK(core.answer(*held_, question).seen_count == played_.size());
  }
  void expect_all_in_filter() {
    std::vector<StoredFilter> stored;
    const std::vector<PeriodIndex> window = calendar_.window(clock_.now_ms());
    REQUIRE(filters_.read(kUser.bytes(), window, stored).ok());
    filter::Query query;
    for (const StoredFilter& one : stored) REQUIRE(query.add(one.value, one.store_key).ok());
    std::vector<uint8_t> found(played_.size(), filter::Query::kUnseen);
    query.run(played_, kUser.bytes(), found);
    for (const uint8_t one : found) CHECK(one != filter::Query::kUnseen);
  }

 private:
  std::unique_ptr<Source> source(const std::string& group, const std::string& topic, Offset from) {
    return std::make_unique<SimSource>(log_, group, topic, kPartition, from);
  }
  void start_merge(Offset from) {
    MergeTaskConfig config;
    config.merge = {kPartition, 1};
    merge_ = std::make_unique<MergeTask>(config, calendar_, filters_, *filters_.read_watermark(kPartition),
                                         source("merge", "user-batches", from), std::make_unique<SimSink>(log_));
  }
  void step() {
    const size_t batches = log_.partition("user-batches", kPartition).size();
    step(*window_, window_clock_off_ms_);
    log_.pump();
    if (log_.partition("user-batches", kPartition).size() > batches) {
      drained_at_.push_back(static_cast<double>(clock_.now_ms() - kStartMs) / static_cast<double>(kHourMs));
    }
    if (merging_) step(*merge_);
    step(*replica_);
  }
  void step(Task& task, int64_t clock_off_ms = 0) {
    for (int i = 0; i < 4; ++i) {
      const auto stepped = task.step(clock_.now_ms() + clock_off_ms);
      INFO(stepped.status().message());
      REQUIRE(stepped.ok());
      log_.pump();
    }
  }

  Random random_{1};
  ManualClock clock_{kStartMs};
  const RingConfig ring_{kSlots, kHourMs};
  SimLog log_{random_, clock_};
  Calendar calendar_ = *Calendar::create({});
  MemoryFilterStore filters_{filter::Policy{}, calendar_, clock_, 1};
  SimDisk disk_;
  std::unique_ptr<WindowTask> window_;
  std::unique_ptr<MergeTask> merge_;
  std::shared_ptr<HeldPartition> held_;
  std::unique_ptr<ReplicaTask> replica_;
  std::vector<ItemHash> played_;
  std::vector<double> drained_at_;
  bool merging_ = true;
  int64_t window_clock_off_ms_ = 0;
};

}  // namespace

TEST_CASE("compensation: an hour is drained in the hour after it, once, when all goes well") {
  Scenario run;
  run.play("a");
  run.advance_to(1.9);
  CHECK(run.merged_offset() == 1);
  run.advance_to(8);
  CHECK(run.drains(DrainAttempt::kFirst) == 1);
  CHECK(run.drains(DrainAttempt::kSecond) == 0);
  CHECK(run.drains(DrainAttempt::kLap) == 0);
  run.expect_all_in_filter();
}

TEST_CASE(
    "compensation: what the first run could not bring into the filters is drained again an hour later, and counted") {
  Scenario run;
  run.play("a");
  run.pause_merging();
  run.advance_to(1.9);
  CHECK(run.drains(DrainAttempt::kFirst) == 1);
  run.lose_unread_batches();
  run.resume_merging();
  CHECK(run.drains(DrainAttempt::kSecond) == 0);
  run.advance_to(2.9);
  CHECK(run.drains(DrainAttempt::kSecond) == 1);
  CHECK(run.merged_offset() == 1);
  run.expect_all_in_filter();
  run.advance_to(9);
  CHECK(run.drains(DrainAttempt::kSecond) == 1);
  CHECK(run.drains(DrainAttempt::kLap) == 0);
}

TEST_CASE(
    "compensation: a slot that missed both runs is drained a lap later with the data that joined it, and counted") {
  Scenario run;
  run.play("a");
  run.pause_merging();
  run.advance_to(2.9);
  CHECK(run.drains(DrainAttempt::kFirst) == 1);
  CHECK(run.drains(DrainAttempt::kSecond) == 1);
  run.lose_unread_batches();
  run.resume_merging();
  run.advance_to(kSlots + 0.5);  // The ring has come round to the slot of "a".
  CHECK(run.merged_offset() == 0);
  run.play("b");
  run.expect_all_seen();
  run.advance_to(kSlots + 1.9);
  CHECK(run.drains(DrainAttempt::kLap) == 1);
  CHECK(run.merged_offset() == 2);
  CHECK(run.drains(DrainAttempt::kFirst) == 1);
  run.expect_all_in_filter();
}

TEST_CASE(
    "compensation: while the filter store is down for hours plays are seen, slots queue and nothing is drained in "
    "vain") {
  Scenario run;
  run.play("before");
  run.advance_to(1.9);
  REQUIRE(run.merged_offset() == 1);
  const uint64_t drains_before = run.drains(DrainAttempt::kFirst);
  run.store_away_until(6.2);
  for (int hour = 2; hour < 6; ++hour) {
    run.advance_to(hour + 0.3);
    run.play("in hour " + std::to_string(hour));
    run.advance_to(hour + 0.35);
    run.expect_all_seen();
  }
  run.advance_to(6.1);
  CHECK(run.slots(SlotState::kSealed) == 4);
  CHECK(run.drains(DrainAttempt::kFirst) == drains_before);

  // The store is back: the hours that waited follow one another, paced. The one that has just ended comes last; its own
  // time, 6.31 here, has passed by then.
  run.advance_to(6.9);
  CHECK(run.drains(DrainAttempt::kFirst) == drains_before + 4);
  CHECK(run.drains(DrainAttempt::kSecond) == 0);
  CHECK(run.merged_offset() == run.log_end());
  run.expect_all_in_filter();
  const std::vector<double> at = run.drained_at();
  REQUIRE(at.size() == 4);
  CHECK(at[1] > 6.2);
  for (size_t i = 2; i < at.size(); ++i) CHECK(at[i] - at[i - 1] > 0.5 / kSlots / 2);
}

TEST_CASE("compensation: a filter store that is down for more than a lap loses nothing, and slots are joined") {
  Scenario run;
  run.store_away_until(2 * kSlots + 3.5);
  for (uint32_t hour = 0; hour < 2 * kSlots + 3; ++hour) {
    run.play("in hour " + std::to_string(hour));
    run.advance_to(hour + 0.5);
    run.expect_all_seen();
    run.advance_to(hour + 1);
  }
  run.advance_to(2 * kSlots + 3 + kSlots + 2);
  CHECK(run.drains(DrainAttempt::kLap) >= kSlots - 1);
  CHECK(run.merged_offset() == run.log_end());
  run.expect_all_in_filter();
}

TEST_CASE("compensation: hours follow the log whatever the window process's own clock says, far ahead or behind") {
  const double off = GENERATE(-1000.0, 1000.0);
  Scenario run;
  run.set_window_clock_off(off);
  for (int hour = 0; hour < 4; ++hour) {
    run.advance_to(hour + 0.2);
    run.play("in hour " + std::to_string(hour));
    run.advance_to(hour + 0.7);
    run.play("later in hour " + std::to_string(hour));
  }
  CHECK(run.merged_offset() >= 4);
  run.set_window_clock_off(0);
  run.advance_to(4.2);
  run.play("afterwards");
  run.advance_to(6.9);
  CHECK(run.merged_offset() == run.log_end());
  run.expect_all_in_filter();
}

}  // namespace bloomring::simulation
