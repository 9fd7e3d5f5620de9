// An ingest task whose partitions of user-events take no records for a while: it passes over plays of their users
// alone, and packs all of them later.
#include "pipeline/tasks/ingest_lanes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "base/hash.h"
#include "tests/pipeline/tasks/ingest_rig.h"
#include "tests/support/manual_clock.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

constexpr uint32_t kEventsPartitions = 4;

PartitionId partition_of_user(int user) {
  return partition_of(shard_of(UserKey("", "u" + std::to_string(user)).bytes()), kEventsPartitions);
}

// Plays of many users, of which those of one partition of user-events wait for its leader.
struct LeaderlessRig : IngestRig {
  const PartitionId stuck = partition_of_user(0);
  int played = 0;

  explicit LeaderlessRig(bool stamped = false) : IngestRig(stamped) {
    wire.room = 100'000;
    IngestTaskConfig config = IngestRig::config();
    config.ingest.partition_count = kEventsPartitions;
    config.lane_in_flight_max = 4;
    config.commit_interval_ms = 1;
    made = std::make_unique<IngestTask>(config, clock, std::make_unique<WireSink>(wire));
  }
  void play_next(int count) {
    for (int i = 0; i < count; ++i, ++played) {
      log.add(R"({"user":"u)" + std::to_string(played) + R"(","item":"a","time":)" + std::to_string(kNowMs) + "}",
              kNowMs);
    }
  }
  // Steps of 100 ms, with plays in each of them.
  void live(int steps, int plays) {
    for (int i = 0; i < steps; ++i) {
      play_next(plays);
      clock.advance_ms(100);
      REQUIRE(task().step(clock.now_ms() + off_ms).ok());
      wire.acknowledge_all();
    }
  }
  // By user: in how many records its play was sent.
  std::map<std::string, int> sent() const {
    std::map<std::string, int> users;
    for (const OutRecord& record : wire.sent) {
      if (record.topic != "user-events") continue;
      auto reader = EventBlockReader::open(record.value, record.partition, kEventsPartitions).value();
      while (reader.next_user()) ++users[std::string(reader.user_key())];
    }
    return users;
  }
  int unsent(bool of_stuck) const {
    const auto users = sent();
    int missing = 0;
    for (int user = 0; user < played; ++user) {
      const UserKey key("", "u" + std::to_string(user));
      missing += (partition_of_user(user) == stuck) == of_stuck && !users.contains(std::string(key.bytes()));
    }
    return missing;
  }
};

}  // namespace

TEST_CASE("ingest task: a partition of user-events without a leader holds up plays of its own users only") {
  LeaderlessRig rig;
  rig.wire.leaderless = rig.stuck;
  rig.assign();
  rig.live(200, 10);
  CHECK(rig.unsent(/*of_stuck=*/false) == 0);
  CHECK(rig.unsent(/*of_stuck=*/true) > 100);
  CHECK(rig.task().passed_over() == std::vector<PartitionId>{rig.stuck});
  CHECK(rig.task().in_flight() < 20);
}

TEST_CASE("ingest task: plays that were passed over are not committed, and read when their partition has a leader") {
  LeaderlessRig rig;
  rig.play_next(1);
  rig.wire.leaderless = rig.stuck;
  rig.assign();
  rig.live(200, 10);
  CHECK(rig.log.committed == 0);  // The first play is of that partition.
  rig.wire.leaderless.reset();
  rig.live(10, 10);
  CHECK(rig.task().passed_over().empty());
  CHECK(rig.unsent(true) + rig.unsent(false) == 0);
  rig.live(5, 0);
  CHECK(rig.log.committed == rig.log.end());
  // None was packed twice, nor counted twice.
  CHECK(std::ranges::all_of(rig.sent(), [](const auto& user) { return user.second == 1; }));
  CHECK(rig.task().ingest().stats().accepted == static_cast<uint64_t>(rig.played));
}

TEST_CASE("ingest task: a partition that loses its leader again and again loses no play and repeats none") {
  LeaderlessRig rig;
  rig.assign();
  for (int i = 0; i < 6; ++i) {
    rig.wire.leaderless = rig.stuck;
    rig.live(80, 10);
    rig.wire.leaderless.reset();
    rig.live(i % 3, 10);
  }
  rig.live(20, 10);
  rig.live(5, 0);
  CHECK(rig.unsent(true) + rig.unsent(false) == 0);
  CHECK(rig.log.committed == rig.log.end());
  CHECK(std::ranges::all_of(rig.sent(), [](const auto& user) { return user.second == 1; }));
}

TEST_CASE("ingest task: partitions that are given back while plays are passed over go without waiting for these") {
  LeaderlessRig rig;
  rig.wire.leaderless = rig.stuck;
  rig.assign();
  rig.live(100, 10);
  rig.task().begin_release();
  rig.live(2, 0);
  CHECK(rig.task().released());
  rig.task().drop_sources(/*lost=*/false);
  CHECK(rig.log.committed <= 0);
  rig.wire.leaderless.reset();
  rig.assign();
  rig.live(20, 0);
  CHECK(rig.unsent(true) + rig.unsent(false) == 0);
  CHECK(rig.log.committed == rig.log.end());
}

TEST_CASE("ingest task: while its clock is off it asks the time of partitions that take records, and of no other") {
  LeaderlessRig rig(/*stamped=*/true);
  rig.assign();
  rig.wire.leaderless = rig.stuck;
  rig.live(200, 10);
  REQUIRE(rig.task().passed_over() == std::vector<PartitionId>{rig.stuck});
  rig.off_ms = 600'000;
  rig.live(200, 0);
  const auto of_stuck = [&] {
    return std::ranges::count_if(rig.wire.sent, [&](const OutRecord& record) { return record.partition == rig.stuck; });
  };
  const auto before = of_stuck();
  const size_t asked = rig.wire.sent.size();
  rig.live(500, 0);
  CHECK(rig.wire.sent.size() > asked + 10);
  rig.wire.leaderless.reset();
  rig.live(5, 0);
  CHECK(of_stuck() <= before + 4);  // Those that had waited, and none that was asked meanwhile.
}

TEST_CASE("ingest task: while no partition of user-events takes anything, nothing is passed over and reading stops") {
  LeaderlessRig rig;
  rig.assign();
  for (int i = 0; i < 100; ++i) {
    rig.play_next(10);
    rig.clock.advance_ms(100);
    REQUIRE(rig.task().step(rig.clock.now_ms()).ok());
  }
  CHECK(rig.task().passed_over().empty());
  CHECK(rig.task().in_flight() <= 4 * kEventsPartitions);
  rig.live(20, 0);
  CHECK(rig.log.committed == rig.log.end());
}

namespace {

// Several topics of plays with gaps, repeats and refused records, and brokers that lead now these partitions of
// user-events and now those; what is sent is durable once acknowledged.
class Shaken {
 public:
  explicit Shaken(unsigned seed) : random_(seed) {}

  void run(int steps) {
    assign();
    for (int i = 0; i < steps; ++i) {
      for (testing::GapLog& log : logs_) write(log);
      if (one_in(40)) leaderless_ = random_() % (1u << kEventsPartitions);
      if (one_in(60)) give_back();
      step();
      check_commits();
    }
    leaderless_ = 0;
    const auto done = [&] { return std::ranges::all_of(logs_, [](auto& log) { return log.committed == log.end(); }); };
    for (int i = 0; i < 10'000 && !done(); ++i) step();
    check_commits();
    CHECK(done());
    CHECK(task_->passed_over().empty());
  }

 private:
  static constexpr size_t kInputs = 3;

  class Brokers final : public Sink {
   public:
    explicit Brokers(Shaken& world) : world_(world) {}
    Status send(OutRecord& record, uint64_t ticket) override {
      if (world_.one_in(15)) return retry("full");
      world_.in_flight_.push_back({ticket, std::move(record)});
      return {};
    }
    Status poll_acks(std::vector<uint64_t>& tickets) override { return world_.acknowledge(tickets), Status(); }

   private:
    Shaken& world_;
  };

  bool one_in(unsigned n) { return random_() % n == 0; }

  void write(testing::GapLog& log) {
    for (unsigned i = random_() % 12; i > 0; --i) {
      if (one_in(12)) log.add_gap(1 + random_() % 3);
      const std::string user = "u" + std::to_string(random_() % 40);
      const std::string play = R"({"user":")" + user + R"(","item":")" + std::to_string(items_) + R"(","time":)" +
                               std::to_string(kNowMs) + "}";
      if (one_in(15)) {
        log.add("no play " + std::to_string(items_), kNowMs);
        expected_[index(log)][log.end() - 1] = "no play " + std::to_string(items_);
      } else {
        for (unsigned again = one_in(20) ? 2 : 1; again > 0; --again) {
          log.add(play, kNowMs);
          expected_[index(log)][log.end() - 1] = user + "/" + std::to_string(item_hash(std::to_string(items_)).value);
        }
      }
      ++items_;
    }
  }
  size_t index(const testing::GapLog& log) const { return static_cast<size_t>(&log - logs_.data()); }

  void acknowledge(std::vector<uint64_t>& tickets) {
    for (size_t i = 0; i < in_flight_.size();) {
      auto& [ticket, record] = in_flight_[i];
      const bool waits = record.topic == "user-events" && (leaderless_ >> record.partition.value & 1u) != 0;
      if (waits || one_in(4)) {
        ++i;
        continue;
      }
      take(record);
      tickets.push_back(ticket);
      in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  void take(const OutRecord& record) {
    if (record.topic != "user-events") {
      durable_.insert(record.value);
      return;
    }
    auto reader = EventBlockReader::open(record.value, record.partition, kEventsPartitions).value();
    while (reader.next_user()) {
      const std::string user(reader.user_key().substr(1));
      while (reader.next_event()) durable_.insert(user + "/" + std::to_string(reader.event().item.value));
    }
  }
  void check_commits() {
    for (size_t i = 0; i < kInputs; ++i) {
      auto& expected = expected_[i];
      while (!expected.empty() && expected.begin()->first < logs_[i].committed) {
        INFO("input " << i << " offset " << expected.begin()->first << " " << expected.begin()->second);
        REQUIRE(durable_.contains(expected.begin()->second));
        expected.erase(expected.begin());
      }
    }
  }

  void assign() {
    if (!task_) {
      IngestTaskConfig config = IngestRig::config();
      config.ingest.partition_count = kEventsPartitions;
      config.ingest.linger_ms = 30;
      config.ingest.block_events = 7;
      config.lane_in_flight_max = 3;
      config.in_flight_max = 9;
      config.lane_patience_ms = 1'000;
      config.commit_interval_ms = 150;
      config.records_per_step = 50;
      task_ = std::make_unique<IngestTask>(config, clock_, std::make_unique<Brokers>(*this));
    }
    for (size_t i = 0; i < kInputs; ++i) {
      const Offset start(std::max<int64_t>(0, logs_[i].committed));
      task_->add_source("plays" + std::to_string(i), kPlays, start,
                        std::make_unique<testing::GapSource>(logs_[i], start));
    }
  }
  void give_back() {
    const bool lost = one_in(2);
    if (!lost) {
      task_->begin_release();
      for (int i = 0; i < 20 && !task_->released(); ++i) step();
    }
    task_->drop_sources(lost);
    check_commits();
    if (one_in(3)) task_.reset(), in_flight_.clear();  // Another process.
    assign();
  }
  void step() {
    clock_.advance_ms(20 + random_() % 100);
    REQUIRE(task_->step(clock_.now_ms()).ok());
  }

  std::mt19937 random_;
  ManualClock clock_{kNowMs};
  std::vector<testing::GapLog> logs_{kInputs, testing::GapLog{.committed = 0}};
  std::map<int64_t, std::string> expected_[kInputs];  // By offset, of what is not committed.
  std::set<std::string> durable_;
  std::vector<std::pair<uint64_t, OutRecord>> in_flight_;
  unsigned leaderless_ = 0;  // A bit for each partition of user-events.
  int items_ = 0;
  std::unique_ptr<IngestTask> task_;
};

}  // namespace

TEST_CASE("ingest task: of what is committed all is durable, whatever partitions of user-events come and go") {
  for (unsigned seed = 0; seed < 12; ++seed) {
    INFO("seed " << seed);
    Shaken(seed).run(200);
  }
}
