// What an ingest task does with what it has read when its partitions are taken away. (What it does otherwise is tested
// by the simulation.)
#include "pipeline/ingest_task.h"

#include <catch2/catch.hpp>

#include "schemas/event_block.h"

using namespace bloomring;

namespace {

constexpr int64_t kNowMs = 1'795'000'000'000;
const PartitionId kPlays(0);

// One partition of plays, as the group gives it out: at most once at any time.
struct Log {
  std::vector<std::string> records;
  int64_t committed = 0;
};

class LogSource final : public Source {
 public:
  explicit LogSource(Log& log) : log_(log), next_(log.committed) {}
  Result<std::optional<LogRecord>> poll() override {
    if (at_end()) return std::optional<LogRecord>();
    const std::string& value = log_.records[static_cast<size_t>(next_)];
    return std::optional(LogRecord{Offset(next_++), kNowMs, {}, value});
  }
  bool at_end() const override { return next_ == static_cast<int64_t>(log_.records.size()); }
  bool lost_position() const override { return false; }
  Offset log_start() const override { return Offset(0); }
  Offset log_end() const override { return Offset(static_cast<int64_t>(log_.records.size())); }
  void commit(Offset next) override { log_.committed = next.value; }

 private:
  Log& log_;
  int64_t next_;
};

// Takes what it has room for, and acknowledges when the test says so.
struct Wire {
  size_t room = 100;
  std::vector<OutRecord> sent;
  std::vector<uint64_t> unacknowledged, acknowledged;
  void acknowledge_all() { acknowledged = std::exchange(unacknowledged, {}); }
};

class WireSink final : public Sink {
 public:
  explicit WireSink(Wire& wire) : wire_(wire) {}
  Status send(OutRecord& record, uint64_t ticket) override {
    if (wire_.sent.size() == wire_.room) return retry("full");
    wire_.sent.push_back(std::move(record));
    wire_.unacknowledged.push_back(ticket);
    return {};
  }
  Status poll_acks(std::vector<uint64_t>& tickets) override {
    tickets = std::exchange(wire_.acknowledged, {});
    return {};
  }

 private:
  Wire& wire_;
};

struct Rig {
  Log log;
  Wire wire;
  int64_t now_ms = kNowMs;
  IngestTask task{config(), std::make_unique<WireSink>(wire)};

  static IngestTaskConfig config() {
    IngestTaskConfig config;
    config.ingest.linger_ms = 0;
    return config;
  }
  void play(const std::string& item) {
    log.records.push_back(R"({"user":"u1","item":")" + item + R"(","time":)" + std::to_string(kNowMs) + "}");
  }
  void assign() { task.add_source("plays", kPlays, Offset(log.committed), std::make_unique<LogSource>(log)); }
  void step() {
    now_ms += config().commit_interval_ms;
    REQUIRE(task.step(now_ms).ok());
  }
  uint64_t events(size_t block) {
    return EventBlockReader::open(wire.sent.at(block).value, PartitionId(0), 1)->events();
  }
};

}  // namespace

TEST_CASE("ingest task: what was on its way when its partitions were taken away is no repeat when it is read again") {
  const bool lost = GENERATE(true, false);
  Rig rig;
  rig.play("a");
  rig.play("b");
  rig.assign();
  rig.step();
  REQUIRE(rig.wire.sent.size() == 1);
  rig.task.drop_sources(lost);
  CHECK(rig.log.committed == 0);
  rig.assign();
  rig.step();
  REQUIRE(rig.wire.sent.size() == 2);
  CHECK(rig.events(1) == 2);
  rig.step();
  CHECK(rig.log.committed == 0);  // Neither block is acknowledged: a crash now must not lose the plays.
  rig.wire.acknowledge_all();
  rig.step();
  CHECK(rig.log.committed == 2);
}

TEST_CASE("ingest task: what the sink had not taken when the partitions were lost is not written for the next owner") {
  Rig rig;
  rig.wire.room = 0;
  rig.play("a");
  rig.assign();
  rig.step();
  rig.task.drop_sources(/*lost=*/true);
  rig.wire.room = 100;
  rig.step();
  CHECK(rig.wire.sent.empty());
  rig.assign();
  rig.step();
  REQUIRE(rig.wire.sent.size() == 1);
  CHECK(rig.events(0) == 1);
}

TEST_CASE("ingest task: partitions that are given back in order leave the memory of repeats as it was") {
  Rig rig;
  rig.play("a");
  rig.assign();
  rig.step();
  rig.task.begin_release();
  CHECK_FALSE(rig.task.released());
  rig.wire.acknowledge_all();
  rig.step();
  CHECK(rig.task.released());
  rig.task.drop_sources(/*lost=*/false);
  CHECK(rig.log.committed == 1);
  rig.play("a");
  rig.assign();
  rig.step();
  rig.step();
  CHECK(rig.wire.sent.size() == 1);
  CHECK(rig.log.committed == 2);
}
