// An ingest task on a log and a sink that a test holds in its hands.
#pragma once

#include <catch2/catch.hpp>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/tasks/ingest_task.h"
#include "schemas/event_block.h"
#include "tests/pipeline/tasks/gap_log.h"
#include "tests/support/manual_clock.h"

namespace bloomring::testing {

inline constexpr int64_t kNowMs = 1'795'000'000'000;
inline const PartitionId kPlays(0);

// Takes what it has room for, and acknowledges when the test says so.
struct Wire {
  size_t room = 100;
  std::vector<OutRecord> sent;
  std::vector<uint64_t> unacknowledged, acknowledged;
  const Clock* brokers = nullptr;  // By which they stamp what they acknowledge; null: the sink does not tell.
  std::optional<int64_t> stamped_ms;  // The next acknowledgements were stamped at this time, before they are heard.
  std::optional<PartitionId> leaderless;  // Of user-events: what was sent there waits.
  std::vector<uint64_t> waiting;
  void acknowledge_all() {
    acknowledged = std::exchange(unacknowledged, {});
    if (!leaderless) std::ranges::move(std::exchange(waiting, {}), std::back_inserter(acknowledged));
  }
};

class WireSink final : public Sink {
 public:
  explicit WireSink(Wire& wire) : wire_(wire) {}
  Status send(OutRecord& record, uint64_t ticket) override {
    if (wire_.sent.size() == wire_.room) return retry("full");
    const bool waits = record.topic == "user-events" && record.partition == wire_.leaderless;
    wire_.sent.push_back(std::move(record));
    (waits ? wire_.waiting : wire_.unacknowledged).push_back(ticket);
    return {};
  }
  Status poll_acks(std::vector<uint64_t>& tickets) override {
    tickets = std::exchange(wire_.acknowledged, {});
    stamp_ms_ = tickets.empty() || wire_.brokers == nullptr ? 0 : wire_.stamped_ms.value_or(wire_.brokers->now_ms());
    if (!tickets.empty()) wire_.stamped_ms.reset();
    return {};
  }
  std::optional<int64_t> broker_time_ms() const override {
    return wire_.brokers == nullptr ? std::nullopt : std::optional(stamp_ms_);
  }

 private:
  Wire& wire_;
  int64_t stamp_ms_ = 0;
};

struct IngestRig {
  // `stamped`: the brokers tell their time with what they acknowledge.
  explicit IngestRig(bool stamped = false) { wire.brokers = stamped ? &clock : nullptr; }

  GapLog log{.committed = 0};
  Wire wire;
  ManualClock clock{kNowMs};  // Of ingest; the brokers' clock is right.
  int64_t off_ms = 0;         // The machine's wall clock is so far ahead.
  std::unique_ptr<IngestTask> made;
  IngestTask& task() {
    if (!made) made = std::make_unique<IngestTask>(config(), clock, std::make_unique<WireSink>(wire));
    return *made;
  }

  static IngestTaskConfig config() {
    IngestTaskConfig config;
    config.ingest.linger_ms = 0;
    return config;
  }
  void play(const std::string& item) {
    log.add(R"({"user":"u1","item":")" + item + R"(","time":)" + std::to_string(kNowMs) + "}", kNowMs);
  }
  void assign() {
    const Offset start(log.committed);
    task().add_source("plays", kPlays, start, std::make_unique<GapSource>(log, start));
  }
  void play_at(const std::string& item, int64_t time_ms) {
    log.add(R"({"user":"u1","item":")" + item + R"(","time":)" + std::to_string(time_ms) + "}", time_ms);
  }
  void step() {
    clock.advance_ms(config().commit_interval_ms);
    REQUIRE(task().step(clock.now_ms() + off_ms).ok());
  }
  void step_and_acknowledge(int times) {
    for (int i = 0; i < times; ++i) {
      step();
      wire.acknowledge_all();
    }
  }
  // Of the plays that were sent, in order.
  std::vector<int64_t> times_ms() {
    std::vector<int64_t> times;
    for (const OutRecord& record : wire.sent) {
      if (record.topic != "user-events") continue;
      auto reader = EventBlockReader::open(record.value, PartitionId(0), 1).value();
      while (reader.next_user()) {
        while (reader.next_event()) {
          if (reader.event().kind == EventKind::kPlay) times.push_back(reader.event().time_ms);
        }
      }
    }
    return times;
  }
  uint64_t events(size_t block) {
    return EventBlockReader::open(wire.sent.at(block).value, PartitionId(0), 1)->events();
  }
};

}  // namespace bloomring::testing
