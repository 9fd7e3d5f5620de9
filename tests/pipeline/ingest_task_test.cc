// What an ingest task commits, what it does with what it has read when its partitions are taken away, and by whose
// clock it judges. (What it does otherwise is tested by the simulation.)
#include "pipeline/ingest_task.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <map>
#include <random>
#include <set>

#include "base/hash.h"
#include "schemas/event_block.h"
#include "tests/pipeline/gap_log.h"

using namespace bloomring;

namespace {

constexpr int64_t kNowMs = 1'795'000'000'000;
const PartitionId kPlays(0);

// Takes what it has room for, and acknowledges when the test says so.
struct Wire {
  size_t room = 100;
  std::vector<OutRecord> sent;
  std::vector<uint64_t> unacknowledged, acknowledged;
  const Clock* brokers = nullptr;  // By which they stamp what they acknowledge; null: the sink does not tell.
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
    stamp_ms_ = tickets.empty() || wire_.brokers == nullptr ? 0 : wire_.brokers->now_ms();
    return {};
  }
  std::optional<int64_t> broker_time_ms() const override {
    return wire_.brokers == nullptr ? std::nullopt : std::optional(stamp_ms_);
  }

 private:
  Wire& wire_;
  int64_t stamp_ms_ = 0;
};

struct Rig {
  // `stamped`: the brokers tell their time with what they acknowledge.
  explicit Rig(bool stamped = false) { wire.brokers = stamped ? &clock : nullptr; }

  testing::GapLog log{.committed = 0};
  Wire wire;
  ManualClock clock{kNowMs};  // What time it is; the brokers' is right.
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
    task().add_source("plays", kPlays, start, std::make_unique<testing::GapSource>(log, start));
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

}  // namespace

TEST_CASE("ingest task: what was on its way when its partitions were taken away is no repeat when it is read again") {
  const bool lost = GENERATE(true, false);
  Rig rig;
  rig.play("a");
  rig.play("b");
  rig.assign();
  rig.step();
  REQUIRE(rig.wire.sent.size() == 1);
  rig.task().drop_sources(lost);
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
  rig.task().drop_sources(/*lost=*/true);
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
  rig.task().begin_release();
  CHECK_FALSE(rig.task().released());
  rig.wire.acknowledge_all();
  rig.step();
  CHECK(rig.task().released());
  rig.task().drop_sources(/*lost=*/false);
  CHECK(rig.log.committed == 1);
  rig.play("a");
  rig.assign();
  rig.step();
  rig.step();
  CHECK(rig.wire.sent.size() == 1);
  CHECK(rig.log.committed == 2);
}

TEST_CASE("ingest task: nothing is committed before what was made of it is acknowledged, blocks and dead letters") {
  Rig rig;
  rig.play("a");
  rig.log.add("no play", kNowMs);
  rig.assign();
  rig.step();
  rig.step();
  REQUIRE(rig.wire.sent.size() == 2);
  CHECK(rig.log.committed == 0);
  const std::vector<uint64_t> tickets = std::exchange(rig.wire.unacknowledged, {});
  const size_t first = GENERATE(0, 1);
  const bool letter_first = rig.wire.sent[first].topic == "plays-dead";
  rig.wire.acknowledged = {tickets[first]};
  rig.step();
  CHECK(rig.log.committed == (letter_first ? 0 : 1));
  rig.wire.acknowledged = {tickets[1 - first]};
  rig.step();
  CHECK(rig.log.committed == 2);
}

TEST_CASE("ingest task: with a clock that is behind, by minutes or months, no play is refused, changed or passed") {
  Rig rig(/*stamped=*/true);
  const int64_t off_ms = GENERATE(as<int64_t>{}, -61'000, -601'000, -8LL * 30 * 86'400'000);
  rig.off_ms = off_ms;
  IngestTask& task = rig.task();
  rig.play_at("a", kNowMs);
  rig.play_at("b", kNowMs + 1);
  rig.assign();
  rig.step_and_acknowledge(20);
  CHECK(task.clock().state() == IngestClock::State::kOff);
  CHECK(rig.times_ms().empty());
  CHECK(rig.log.committed <= 0);
  CHECK(task.dead_letters() == 0);
  rig.off_ms = 0;  // Somebody sets it right.
  rig.step_and_acknowledge(20);
  CHECK(task.clock().state() == IngestClock::State::kGood);
  CHECK(rig.times_ms() == std::vector<int64_t>{kNowMs, kNowMs + 1});
  CHECK(rig.log.committed == 2);
}

TEST_CASE("ingest task: with a clock that is ahead no play is packed with a time that is ahead of the brokers") {
  Rig rig(/*stamped=*/true);
  rig.off_ms = GENERATE(as<int64_t>{}, 59'000, 3'600'000);
  rig.play_at("fast", kNowMs + 50'000);  // Of a client whose clock is ahead, too.
  rig.assign();
  rig.step_and_acknowledge(3);
  rig.off_ms = 0;
  rig.step_and_acknowledge(20);
  REQUIRE(rig.times_ms().size() == 1);
  CHECK(rig.times_ms()[0] < kNowMs + 40'000);
  CHECK(rig.log.committed == 1);
}

TEST_CASE("ingest task: a clock that jumps while it runs changes the time of no play, and stops the reading") {
  Rig rig(/*stamped=*/true);
  IngestTask& task = rig.task();
  rig.play_at("a", kNowMs);
  rig.assign();
  rig.step_and_acknowledge(3);
  CHECK(task.clock().state() == IngestClock::State::kGood);
  rig.off_ms = GENERATE(as<int64_t>{}, -3'600'000, 3'600'000, 8LL * 30 * 86'400'000);
  const int64_t now_ms = rig.clock.now_ms();
  rig.play_at("b", now_ms);
  rig.step_and_acknowledge(3);
  CHECK(rig.times_ms() == std::vector<int64_t>{kNowMs, now_ms});
  CHECK(task.clock().state() == IngestClock::State::kOff);
  rig.play_at("c", now_ms + 1);
  rig.step_and_acknowledge(5);
  CHECK(rig.times_ms().size() == 2);
  CHECK(rig.log.committed == 2);
  rig.off_ms = 0;
  rig.step_and_acknowledge(20);
  CHECK(rig.times_ms().size() == 3);
  CHECK(rig.log.committed == 3);
}

TEST_CASE("ingest task: a play that is ahead of every clock is clamped or refused once the brokers' time is known") {
  Rig rig(/*stamped=*/true);
  IngestTask& task = rig.task();
  rig.play_at("ahead", kNowMs + 3'600'000);
  rig.play_at("far", kNowMs + 2 * 86'400'000);
  rig.assign();
  rig.step_and_acknowledge(6);
  REQUIRE(rig.times_ms().size() == 1);
  CHECK(rig.times_ms()[0] < kNowMs + 60'000);
  CHECK(task.dead_letters() == 1);
  rig.step_and_acknowledge(2);
  CHECK(rig.log.committed == 2);
}

TEST_CASE("ingest task: brokers that stamp no time that an event could have are not compared with") {
  Rig rig;
  const ManualClock long_ago(1234);  // As the embedded broker stamps.
  rig.wire.brokers = &long_ago;
  rig.play_at("a", kNowMs);
  rig.play_at("b", kNowMs + 60'000);
  rig.assign();
  rig.step_and_acknowledge(5);
  CHECK(rig.task().clock().state() == IngestClock::State::kAlone);
  CHECK(rig.times_ms().size() == 2);
  CHECK(rig.log.committed == 2);
}

namespace {

constexpr uint32_t kEventsPartitions = 4;

PartitionId partition_of_user(int user) {
  return partition_of(shard_of(UserKey("", "u" + std::to_string(user)).bytes()), kEventsPartitions);
}

// Plays of many users, of which those of one partition of user-events wait for its leader.
struct LeaderlessRig : Rig {
  const PartitionId stuck = partition_of_user(0);
  int played = 0;

  LeaderlessRig() {
    wire.room = 100'000;
    IngestTaskConfig config = Rig::config();
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
      REQUIRE(task().step(clock.now_ms()).ok());
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
      IngestTaskConfig config = Rig::config();
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
