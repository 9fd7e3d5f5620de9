// A replay of topics of the simulation's log, with everything that it wrote read back.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "pipeline/jobs/job_runner.h"
#include "pipeline/jobs/replay/replay_job.h"
#include "schemas/event_block.h"
#include "tests/simulation/sim_log.h"
#include "tests/simulation/sim_replay_log.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_job_board.h"

namespace bloomring::testing {

inline constexpr int64_t kReplayNowMs = 1'795'046'400'000;  // 2026-11-19T00:00:00Z.
inline constexpr int64_t kDayMs = 86'400'000;

// An event as the log has it: kind, user id, item, time.
using WrittenEvent = std::tuple<EventKind, std::string, uint64_t, int64_t>;

inline WrittenEvent play_of(const std::string& user, const std::string& item, int64_t time_ms) {
  return {EventKind::kPlay, user, item_hash(item).value, time_ms};
}
inline WrittenEvent forget_of(const std::string& user, const std::string& item, int64_t time_ms) {
  return {EventKind::kForget, user, item_hash(item).value, time_ms};
}

class ReplayRig {
 public:
  static constexpr int32_t kPlaysPartitions = 2;
  static constexpr int32_t kPartitions = 4;

  ReplayRig() { log.trouble = 0; }

  // Appends a record that the site wrote at `log_ms`, and returns its offset.
  int64_t append(int32_t partition, std::string json, int64_t log_ms) {
    const int64_t now_ms = clock.now_ms();
    clock.advance_to_ms(log_ms);
    log.append("plays", PartitionId(partition), std::move(json));
    clock.advance_to_ms(now_ms);
    return log.end("plays", PartitionId(partition)).value - 1;
  }
  static std::string json(const std::string& event, const std::string& user, const std::string& item,
                          int64_t time_ms) {
    return R"({"event":")" + event + R"(","user":")" + user + R"(","item":")" + item + R"(","time":)" +
           std::to_string(time_ms) + "}";
  }
  // A play that reached the log a second after it happened.
  int64_t play(const std::string& user, const std::string& item, int64_t time_ms, int32_t partition = 0) {
    return append(partition, json("play", user, item, time_ms), time_ms + 1'000);
  }
  int64_t forget(const std::string& user, const std::string& item, int64_t time_ms, int32_t partition = 0) {
    return append(partition, json("forget", user, item, time_ms), time_ms + 1'000);
  }

  std::unique_ptr<ReplayJob> make() {
    auto made = ReplayJob::create(config, source, std::make_unique<simulation::SimSink>(log), calendar, clock);
    INFO(made.status().message());
    REQUIRE(made.ok());
    return std::move(*made);
  }
  // Runs it as a process would; `turn` is called whenever it waits.
  Result<JobRecord> run(const std::function<bool()>& turn = [] { return false; }) {
    const std::unique_ptr<ReplayJob> job = make();
    MemoryJobBoard board(topic);
    JobRunnerConfig runner;
    runner.name = "history";
    runner.run = "run-" + std::to_string(++runs);
    runner.rate = rate;
    runner.save_interval_ms = 50;
    JobEnvironment environment{clock, [&](int64_t wait_ns) {
                                 clock.advance_ms(std::max<int64_t>(wait_ns / 1'000'000, 1));
                                 log.pump();
                                 return turn();
                               }};
    return JobRunner(runner, *job, board, environment).run();
  }

  // Of user-events, except what ingest learns the time by.
  std::multiset<WrittenEvent> written(const std::string& events = "user-events", int32_t partitions = kPartitions) {
    std::multiset<WrittenEvent> all;
    for (int32_t p = 0; p < partitions; ++p) {
      for (const auto& record : log.partition(events, PartitionId(p))) {
        auto reader = EventBlockReader::open(record.value, PartitionId(p), static_cast<uint32_t>(partitions));
        REQUIRE(reader.ok());
        while (reader->next_user()) {
          const std::string user(reader->user_key().substr(1));
          while (reader->next_event()) {
            const Event& event = reader->event();
            if (event.kind != EventKind::kServe) all.insert({event.kind, user, event.item.value, event.time_ms});
          }
        }
      }
    }
    return all;
  }
  static uint64_t count(const JobRecord& record, const std::string& name, const std::string& reason = "") {
    for (const JobCount& one : record.counts) {
      if (one.name == name && one.reason == reason) return one.value;
    }
    return 0;
  }

  simulation::Random random{1};
  ManualClock clock{kReplayNowMs};
  simulation::SimLog log{random, clock};
  Calendar calendar = *Calendar::create({});
  simulation::SimReplayLog source{log, {{"plays", kPlaysPartitions}, {"old-events", 5}}};
  MemoryJobTopic topic;
  ReplayJobConfig config = [] {
    ReplayJobConfig made;
    made.brokers = "old:9092";
    made.topics = {"plays"};
    made.ingest.ingest.partition_count = kPartitions;
    made.ingest.ingest.block_events = 8;
    made.ingest.records_per_step = 16;
    return made;
  }();
  double rate = 100'000;
  int runs = 0;
};

}  // namespace bloomring::testing
