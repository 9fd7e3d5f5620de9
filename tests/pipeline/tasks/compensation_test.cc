// Compensation (state/window/ring.h) on the manual clock: window, merge and serve tasks of one partition over a log
// that is in order, with merging held up for as long as a test says. Times are hours of the ring; a trigger comes at
// each full hour.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/hash.h"
#include "operators/filters/merge.h"
#include "operators/window_start.h"
#include "pipeline/tasks/merge_task.h"
#include "pipeline/tasks/replica_task.h"
#include "pipeline/tasks/window_task.h"
#include "schemas/event_block.h"
#include "serving/query/candidate_filter.h"
#include "tests/simulation/sim_disk.h"
#include "tests/simulation/sim_log.h"
#include "tests/support/filter_window.h"
#include "tests/support/instrumented.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_filter_store.h"

namespace bloomring::simulation {
namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kStartMs = 1'795'046'400'000;  // A full hour.
constexpr int64_t kStepMs = kInstrumented ? 60'000 : 20'000;
constexpr uint32_t kSlots = 6;
const PartitionId kPartition(0);
const UserKey kUser("", "u1");

// The brokers' facts about user-batches.
class SimBatchesWatch final : public BatchesWatch {
 public:
  explicit SimBatchesWatch(SimLog& log) : log_(log) {}
  BatchesLog of(PartitionId partition) const override {
    const Offset committed(log_.committed("merge", "user-batches", partition));
    const auto log_end = static_cast<int64_t>(log_.partition("user-batches", partition).size());
    return {std::max(committed, log_start), Offset(log_end)};
  }
  Offset log_start{0};

 private:
  SimLog& log_;
};

enum class Watched { kNo, kYes };

class Scenario {
 public:
  // True when the window task hears how far the merge stage has come.
  explicit Scenario(Watched watched = Watched::kNo) : watched_(watched) {
    log_.trouble = 0;
    start_window();
    start_merge(Offset(0));
    held_ =
        std::make_shared<ReplicaPartition>(kPartition, RecentPlaysConfig{ring_.slot_ms, 64 << 20}, calendar_,
                                           Offset(0));
    replica_ = std::make_unique<ReplicaTask>(ReplicaTaskConfig{1, ring_.slot_ms * kSlots}, clock_, held_, filters_,
                                             source("serve", "user-events", Offset(0)), Offset(0), Offset(0));
  }

  void play(const std::string& item, bool steps = true) {
    EventBlockBuilder builder;
    builder.add(kUser.bytes(), {EventKind::kPlay, item_hash(item), clock_.now_ms()});
    log_.append("user-events", kPartition, builder.finish(kPartition, 1));
    played_.push_back(item_hash(item));
    if (steps) step();
  }

  // Lets time pass to this many hours after the start; everything that runs steps every kStepMs.
  void advance_to(double hours) {
    const int64_t until_ms = kStartMs + static_cast<int64_t>(hours * static_cast<double>(kHourMs));
    for (; clock_.now_ms() < until_ms; clock_.advance_ms(kStepMs)) step();
  }

  // Appends a block that the broker has stamped so many hours ahead.
  void play_stamped_ahead(const std::string& item, double hours) {
    play(item, false);
    log_.partition("user-events", kPartition).back().log_time_ms += static_cast<int64_t>(hours * kHourMs);
  }
  // The window process ends and comes back, with its disk or without it.
  void restart_window(bool lose_disk) {
    REQUIRE(window_->close().ok());
    window_.reset();
    if (lose_disk) disk_.lose();
    start_window();
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
    batches_.log_start = Offset(log_end);
    start_merge(Offset(log_end));
  }
  // Plays in user-batches.
  size_t plays_drained() const {
    size_t plays = 0;
    std::vector<ItemHash> items;
    std::vector<int64_t> times_ms;
    for (const StoredRecord& record : log_.partition("user-batches", kPartition)) {
      auto reader = UserBatchReader::open(record.value, kPartition, 1);
      if (!reader.ok()) continue;  // A slot end.
      while (reader->next_user()) {
        for (QuarterIndex quarter; reader->next_quarter(quarter, items, times_ms);) plays += items.size();
      }
    }
    return plays;
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
  // When the filling hour ends, in hours after the start.
  double filling_ends_at() const {
    return static_cast<double>(window_->window().ring().filling_end_ms() - kStartMs) / static_cast<double>(kHourMs);
  }
  int64_t merged_offset() { return filters_.read_watermark(kPartition)->value_or(MergedWatermark{}).offset.value; }
  int64_t log_end() { return static_cast<int64_t>(log_.partition("user-events", kPartition).size()); }
  // Wall times, as hours after the start, at which records of drains were sent.
  std::vector<double> drained_at() const { return drained_at_; }

  void expect_all_seen() {
    CandidateFilter core(filters_, calendar_, clock_, {});
    FilterQuestion question;
    question.user = kUser.bytes();
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
  void start_window() {
    WindowTaskConfig config;
    config.window = {kPartition, 1, ring_, 0.5};
    auto store = std::make_unique<SimWindowStore>(disk_);
    const WindowStartFacts facts{*store->load(), *filters_.read_watermark(kPartition), Offset(0), Offset(log_end())};
    const auto start = decide_window_start(facts);
    REQUIRE(start.ok());
    Window window = testing::filter_window(config.window, *store, *start, facts.local);
    window_ = std::make_unique<WindowTask>(
        config, clock_, std::move(store), std::move(window),
        testing::filter_log(filters_, watched_ == Watched::kYes ? &batches_ : nullptr),
        source("window", "user-events", start->read_from), std::make_unique<SimSink>(log_));
  }
  void start_merge(Offset from) {
    MergeTaskConfig config;
    config.partition = kPartition;
    auto merge = std::make_unique<Merge>(MergeConfig{kPartition, 1}, calendar_, filters_.take_over(kPartition).value(),
                                         *filters_.read_watermark(kPartition));
    merge_ = std::make_unique<MergeTask>(config, std::move(merge), source("merge", "user-batches", from),
                                         std::make_unique<SimSink>(log_));
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
  const Watched watched_;
  SimBatchesWatch batches_{log_};
  std::unique_ptr<WindowTask> window_;
  std::unique_ptr<MergeTask> merge_;
  std::shared_ptr<ReplicaPartition> held_;
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

TEST_CASE("compensation: merging goes on within a slot after a log time far ahead and a restart, and nothing is lost") {
  const double ahead = GENERATE(3.0, 24.0, 24.0 * 365);
  const bool lose_disk = GENERATE(false, true);
  Scenario run;
  run.play("before");
  run.advance_to(0.5);
  run.play_stamped_ahead("stamped", ahead);
  // The newest merged record, which a restart reads again, says nothing of the hours ahead.
  if (GENERATE(false, true)) run.play("after it");
  run.advance_to(0.6);
  // The hour that was opened is merged, or fills.
  for (const double restart_at : {GENERATE(0.7, 4.7), 5.1, 5.2, 5.3}) {
    run.advance_to(restart_at);
    run.restart_window(lose_disk);
  }
  for (int hour = 6; hour < 12; ++hour) {
    run.advance_to(hour + 0.3);
    run.play("in hour " + std::to_string(hour));
    CAPTURE(ahead, lose_disk, hour);
    CHECK(run.log_end() - run.merged_offset() <= 3);  // Of this hour, the one before, and the one that is drained.
  }
  run.advance_to(14);
  run.expect_all_seen();
  CHECK(run.merged_offset() == run.log_end());
  run.expect_all_in_filter();
}

TEST_CASE("compensation: a quiet hour far ahead of the log is merged however often the window process restarts") {
  Scenario run;
  run.play_stamped_ahead("stamped", 24);
  for (int restart = 1; restart <= 6; ++restart) {
    run.advance_to(restart * 0.5);
    run.restart_window(/*lose_disk=*/false);
  }
  run.advance_to(3.6);  // The hour ends after a slot's length; its drain starts within half a slot.
  CHECK(run.merged_offset() == run.log_end());
  run.expect_all_in_filter();
}

TEST_CASE("compensation: two slots after a log time up to a slot ahead, hours end with the hours of the log again") {
  const double ahead = GENERATE(0.1, 0.9);
  const bool restarts = GENERATE(false, true);
  Scenario run;
  run.play("before");
  run.advance_to(0.95);
  run.play_stamped_ahead("stamped", ahead);
  for (int hour = 1; hour < 6; ++hour) {
    run.advance_to(hour + 0.3);
    if (restarts && hour == 1) run.restart_window(/*lose_disk=*/false);
    run.advance_to(hour + 0.31);
    run.play("in hour " + std::to_string(hour));
    run.advance_to(hour + 0.98);
    CAPTURE(ahead, restarts, hour);
    if (hour > 2) CHECK(run.filling_ends_at() == Approx(hour + 1));
    CHECK(run.log_end() - run.merged_offset() <= 4);
  }
  run.advance_to(8);
  CHECK(run.merged_offset() == run.log_end());
  run.expect_all_in_filter();
}

TEST_CASE("compensation: while merging is down for days each play is drained once, and once more for each restart") {
  const int restarts = GENERATE(0, 2);
  Scenario run(Watched::kYes);
  run.pause_merging();
  constexpr int kHours = 96;
  for (int hour = 0; hour < kHours; ++hour) {
    run.advance_to(hour + 0.2);
    for (int i = 0; i < 5; ++i) run.play("in hour " + std::to_string(hour) + " " + std::to_string(i));
    if (restarts > 0 && (hour == 40 || hour == 70)) run.restart_window(/*lose_disk=*/hour == 70);
  }
  run.advance_to(kHours + 1);
  CHECK(run.plays_drained() <= (restarts == 0 ? 1 : 2) * static_cast<size_t>(5 * kHours));
  run.resume_merging();
  run.advance_to(kHours + 1.5);
  CHECK(run.merged_offset() >= run.log_end() - 5);
  run.advance_to(kHours + 8);
  CHECK(run.merged_offset() == run.log_end());
  run.expect_all_in_filter();
}

TEST_CASE("compensation: what was lost unread from user-batches is drained again, and only that") {
  Scenario run(Watched::kYes);
  run.pause_merging();
  for (int hour = 0; hour < 2 * static_cast<int>(kSlots); ++hour) {
    run.advance_to(hour + 0.2);
    run.play("in hour " + std::to_string(hour));
  }
  run.advance_to(2 * kSlots + 0.9);
  CHECK(run.plays_drained() <= 2 * kSlots);
  run.lose_unread_batches();
  run.resume_merging();
  run.advance_to(4 * kSlots);
  CHECK(run.plays_drained() <= 4 * kSlots);
  CHECK(run.merged_offset() == run.log_end());
  run.expect_all_in_filter();
}

}  // namespace bloomring::simulation
