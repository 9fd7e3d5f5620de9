// Custody: the committed offset of user-events never passes an event that is not merged, and nothing is lost, whatever
// the order of blocks, time, acknowledgements, merges, crashes and backups. The window task with its ring, over the
// simulation's log and disk, with a merger that merges the slot ends of the log whenever and in whatever order it
// likes.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <set>

#include "base/hash.h"
#include "operators/window_start.h"
#include "pipeline/tasks/window_task.h"
#include "schemas/event_block.h"
#include "tests/simulation/sim_disk.h"
#include "tests/simulation/sim_log.h"
#include "tests/support/filter_window.h"
#include "tests/support/instrumented.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_filter_store.h"

namespace bloomring::simulation {
namespace {

constexpr int64_t kStartMs = 1'795'000'000'000;
const PartitionId kPartition(0);
const std::string kEvents = "user-events";
const std::string kBatches = "user-batches";
const std::string kDead = "plays-dead";

class CustodyWorld {
 public:
  explicit CustodyWorld(uint64_t seed) : random_(seed), ring_{static_cast<uint32_t>(3 + seed % 4), 10'000} {}

  void live(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      act();
      step();
      check();
    }
  }

  // Everything is merged in the end: what was not merged was always read again.
  void settle() {
    log_.trouble = 0;
    for (uint32_t hour = 0; hour < 3 * ring_.slots + 3; ++hour) {
      for (int i = 0; i < 50; ++i) {
        step();
        clock_.advance_ms(ring_.slot_ms / 50);
        while (merge_some_slot_end()) {
        }
        check();
      }
    }
    CAPTURE(merged_.size(), blocks());
    REQUIRE(first_unmerged() == blocks());
  }

  int crashes = 0, backups = 0, commits = 0;

 private:
  int64_t blocks() { return static_cast<int64_t>(log_.partition(kEvents, kPartition).size()); }
  int64_t first_unmerged() {
    int64_t at = 0;
    while (merged_.contains(at)) ++at;
    return at;
  }

  void act() {
    for (uint64_t i = random_() % 4; i > 0; --i) log_.append(kEvents, kPartition, block());
    if (one_in(random_, 40)) append_junk();
    clock_.advance_ms(static_cast<int64_t>(one_in(random_, 50) ? random_() % 30'000 : random_() % 900));
    if (one_in(random_, 3)) merge_some_slot_end();
    if (one_in(random_, 60)) crash();
    if (one_in(random_, 200)) backup_ = {*filters_.read_watermark(kPartition), merged_};
    if (one_in(random_, 300)) go_back();
  }

  void append_junk() {
    const int64_t at = blocks();
    junk_[at] = "no event block " + std::to_string(at);
    log_.append(kEvents, kPartition, junk_[at]);
  }

  std::string block() {
    EventBlockBuilder builder;
    const UserKey user("", "u" + std::to_string(random_() % 20));
    builder.add(user.bytes(), {EventKind::kPlay, ItemHash(random_()), clock_.now_ms()});
    return builder.finish(kPartition, 1);
  }

  void start() {
    auto store = std::make_unique<SimWindowStore>(disk_);
    const WindowStartFacts facts{*store->load(), *filters_.read_watermark(kPartition), Offset(0), Offset(blocks())};
    const auto start = decide_window_start(facts);
    INFO(start.status().message());
    REQUIRE(start.ok());
    WindowTaskConfig config;
    config.window = {kPartition, 1, ring_, 0.5};
    config.blocks_per_step = 4;
    config.flush_interval_ms = 4'000;
    auto source = std::make_unique<SimSource>(log_, "window", kEvents, kPartition, start->read_from);
    Window window = testing::filter_window(config.window, *store, *start, facts.local);
    task_ = std::make_unique<WindowTask>(config, clock_, std::move(store), std::move(window),
                                         testing::filter_log(filters_), std::move(source),
                                         std::make_unique<SimSink>(log_));
  }

  void step() {
    if (!task_) start();
    const auto stepped = task_->step(clock_.now_ms());
    log_.pump();
    if (stepped.ok()) return;
    INFO(stepped.status().message());
    REQUIRE(gone_back_);  // Nothing else ends a task here.
    REQUIRE(stepped.status().message().find("went back") != std::string::npos);
    crash();
  }

  void crash() {
    ++crashes;
    task_.reset();
    gone_back_ = false;
    if (one_in(random_, 4)) {
      disk_.lose();
    } else {
      disk_.crash(random_);
    }
  }

  // Takes any slot end of the log, old or new, once or again.
  bool merge_some_slot_end() {
    std::vector<SlotEnd> open;
    for (const StoredRecord& record : log_.partition(kBatches, kPartition)) {
      auto decoded = decode_batch_record(record.value, kPartition, 1);
      REQUIRE(decoded.ok());
      const auto* end = std::get_if<SlotEnd>(&*decoded);
      if (end != nullptr && !covered(*end)) open.push_back(*end);
    }
    if (open.empty()) return false;
    const SlotEnd& end = open[random_() % open.size()];
    MergedWatermark moved = filters_.read_watermark(kPartition)->value_or(MergedWatermark{});
    for (const DrainedHour& drained : end.hours) {
      if (!moved.add(drained.range, drained.hour)) continue;  // No place for it: it stays unmerged.
      for (int64_t offset = drained.range.from.value; offset < drained.range.to.value; ++offset) merged_.insert(offset);
    }
    REQUIRE(filters_.advance(kPartition, moved).ok());
    return true;
  }

  bool covered(const SlotEnd& end) {
    for (const DrainedHour& drained : end.hours) {
      for (int64_t offset = drained.range.from.value; offset < drained.range.to.value; ++offset) {
        if (!merged_.contains(offset)) return false;
      }
    }
    return true;
  }

  // FAULT: the filter store goes back to its last backup, and the batches that were merged since are gone with their
  // log.
  void go_back() {
    ++backups;
    REQUIRE(filters_.advance(kPartition, backup_.watermark.value_or(MergedWatermark{})).ok());
    merged_ = backup_.merged;
    log_.partition(kBatches, kPartition).clear();
    log_.committed("window", kEvents, kPartition) =
        -1;  // Of the time before; no later one may pass what is unmerged now.
    gone_back_ = true;
  }

  void check() {
    const int64_t committed = log_.committed("window", kEvents, kPartition);
    commits += committed > 0;
    CAPTURE(committed);
    REQUIRE(committed <= first_unmerged());
    for (auto junk = junk_.begin(); junk != junk_.lower_bound(committed); ++junk) {
      CAPTURE(junk->first);
      REQUIRE(refused(junk->second));
    }
  }

  // In the dead-letter topic as it was, with its refusal.
  bool refused(const std::string& value) {
    const std::pair<std::string, std::string> reason("bloomring.error.reason", refusal_name(Refusal::kBadBlock));
    return std::ranges::any_of(log_.partition(kDead, PartitionId(0)), [&](const StoredRecord& letter) {
      return letter.value == value && letter.headers.at(0) == reason;
    });
  }

  struct Backup {
    std::optional<MergedWatermark> watermark;
    std::set<int64_t> merged;
  };

  Random random_;
  ManualClock clock_{kStartMs};
  RingConfig ring_;
  SimLog log_{random_, clock_};
  Calendar calendar_ = *Calendar::create({});
  MemoryFilterStore filters_{filter::Policy{}, calendar_, clock_, 1};
  SimDisk disk_;
  std::unique_ptr<WindowTask> task_;
  std::set<int64_t> merged_;             // The oracle: offsets whose slot ends were merged.
  std::map<int64_t, std::string> junk_;  // Records of the log that are no event blocks, by offset.
  Backup backup_;
  bool gone_back_ = false;
};

}  // namespace

TEST_CASE(
    "custody: the committed offset never passes an unmerged event, nor a record that is no block and not dead-lettered "
    "yet, and nothing is lost, in any order of things") {
  const char* one = std::getenv("BLOOMRING_CUSTODY_SEED");
  const uint64_t first = one == nullptr ? 1 : std::strtoull(one, nullptr, 10);
  const uint64_t seeds = one == nullptr ? rounds(80) : 1;
  int crashes = 0, backups = 0, commits = 0;
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    INFO("repeat with: BLOOMRING_CUSTODY_SEED=" << seed << " tasks_test 'custody*'");
    CustodyWorld world(seed);
    world.live(300);
    world.settle();
    crashes += world.crashes;
    backups += world.backups;
    commits += world.commits;
  }
  if (one != nullptr) return;
  CHECK(crashes > rounds(100));
  CHECK(backups > rounds(30));
  CHECK(commits > rounds(1000));
}

}  // namespace bloomring::simulation
