// One installation with one partition, on the log of the simulation: ingest, window, merge and a replica, driven by
// hand on a manual clock. No faults.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/hash.h"
#include "operators/filters/merge.h"
#include "operators/window_start.h"
#include "pipeline/tasks/merge_task.h"
#include "pipeline/tasks/replica_task.h"
#include "pipeline/tasks/window_task.h"
#include "serving/query/candidate_filter.h"
#include "tests/pipeline/jobs/replay/replay_rig.h"
#include "tests/simulation/sim_disk.h"
#include "tests/support/filter_window.h"
#include "tests/support/memory_filter_store.h"

namespace bloomring::simulation {

inline constexpr int64_t kHourMs = 3'600'000;
inline constexpr int64_t kStartMs = 1'793'491'200'000;  // 2026-11-01T00:00:00Z.
inline constexpr uint32_t kSlots = 6;
inline constexpr PartitionId kPartition(0);

// The site: what its users did, in the order of the topic.
struct Happening {
  int64_t time_ms;
  EventKind kind;
  std::string user;
  std::string item;
};

// One installation with one partition, which reads a topic of plays.
class Installation {
 public:
  explicit Installation(int64_t since_ms) : since_ms_(since_ms) {
    log.trouble = 0;
    auto store = std::make_unique<SimWindowStore>(disk_);
    WindowTaskConfig config;
    config.window = {kPartition, 1, {kSlots, kHourMs}, 0.5};
    const auto start = decide_window_start({*store->load(), std::nullopt, Offset(0), Offset(0)});
    REQUIRE(start.ok());
    Window window = testing::filter_window(config.window, *store, *start);
    window_ = std::make_unique<WindowTask>(config, clock, std::move(store), std::move(window),
                                           testing::filter_log(filters), source("window", "user-events"),
                                           std::make_unique<SimSink>(log));
    auto merge = std::make_unique<Merge>(MergeConfig{kPartition, 1}, calendar, filters.take_over(kPartition).value(),
                                         std::nullopt);
    MergeTaskConfig merging;
    merging.partition = kPartition;
    merge_ = std::make_unique<MergeTask>(merging, std::move(merge), source("merge", "user-batches"),
                                         std::make_unique<SimSink>(log));
    held = std::make_shared<ReplicaPartition>(kPartition, RecentPlaysConfig{kHourMs, 64 << 20}, calendar, Offset(0));
    replica_ = std::make_unique<ReplicaTask>(ReplicaTaskConfig{1, kHourMs * kSlots}, clock, held, filters,
                                             source("serve", "user-events"), Offset(0), Offset(0));
    IngestTaskConfig ingest;
    ingest.ingest.drop_repeats = true;
    ingest_ = std::make_unique<IngestTask>(ingest, clock, std::make_unique<SimSink>(log));
  }

  void happen(const Happening& one) {
    clock.advance_to_ms(one.time_ms + 1'000);
    begin_to_read();
    constexpr std::string_view kNames[] = {"", "play", "serve", "forget", "forget_all"};
    log.append("plays", kPartition,
               testing::ReplayRig::json(std::string(kNames[static_cast<size_t>(one.kind)]), one.user, one.item,
                                        one.time_ms));
  }
  void advance_to(int64_t until_ms) {
    for (;; clock.advance_ms(600'000)) {
      step();
      if (clock.now_ms() >= until_ms) return;
    }
  }
  void step() {
    replica_->update_log_end(log.end("user-events", kPartition), clock.steady_ns());
    for (Task* task : {static_cast<Task*>(ingest_.get()), static_cast<Task*>(window_.get()),
                       static_cast<Task*>(merge_.get()), static_cast<Task*>(replica_.get())}) {
      for (int i = 0; i < 6; ++i) {
        const auto stepped = task->step(clock.now_ms());
        INFO(stepped.status().message());
        REQUIRE(stepped.ok());
        log.pump();
      }
    }
  }
  // By user and period.
  std::map<std::pair<std::string, int32_t>, std::string> rows() {
    std::map<std::pair<std::string, int32_t>, std::string> all;
    REQUIRE(filters.scan([&](const StoredFilter& one, std::string_view user_key) {
                     all[{std::string(user_key.substr(1)), one.period.value}] = one.value;
                     return true;
                   }).ok());
    return all;
  }
  bool says_seen(const std::string& user, const std::string& item) {
    CandidateFilter core(filters, calendar, clock, {});
    const UserKey key("", user);
    const std::vector<ItemHash> ids = {item_hash(item)};
    FilterQuestion question;
    question.user = key.bytes();
    question.ids = ids;
    const FilterAnswer answer = core.answer(*held, question);
    REQUIRE(answer.gaps.empty());
    return answer.seen_count == 1;
  }

  Random random{1};
  ManualClock clock{kStartMs};
  SimLog log{random, clock};
  Calendar calendar = *Calendar::create({});
  // So few false positives that none is expected among the forgotten items.
  MemoryFilterStore filters{filter::Policy{.false_positive_rate = 1e-5}, calendar, clock, 1};
  std::shared_ptr<ReplicaPartition> held;

 private:
  // From the end that the topic has at that time.
  void begin_to_read() {
    if (clock.now_ms() < since_ms_ || std::exchange(reading_, true)) return;
    const Offset end = log.end("plays", kPartition);
    ingest_->add_source("plays", kPartition, end,
                        std::make_unique<SimSource>(log, "ingest", "plays", kPartition, end));
  }
  std::unique_ptr<Source> source(const std::string& group, const std::string& topic) {
    return std::make_unique<SimSource>(log, group, topic, kPartition, Offset(0));
  }

  const int64_t since_ms_;
  bool reading_ = false;
  SimDisk disk_;
  std::unique_ptr<IngestTask> ingest_;
  std::unique_ptr<WindowTask> window_;
  std::unique_ptr<MergeTask> merge_;
  std::unique_ptr<ReplicaTask> replica_;
};

}  // namespace bloomring::simulation
