// The job over the log of the simulation and a real redis-server: what it writes and what it leaves, where it ends, how
// it follows, and kills at each of its durable steps. The oracle is a map that knows nothing of scores and commands.
#include "pipeline/jobs/export/export_job.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <stdexcept>

#include "base/faults/fault_point.h"
#include "pipeline/jobs/job_runner.h"
#include "pipeline/jobs/migrate/refusal_counts.h"
#include "tests/pipeline/jobs/migrate/legacy_bed.h"
#include "tests/simulation/sim_log.h"
#include "tests/simulation/sim_replay_log.h"
#include "tests/support/folder.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_job_board.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

constexpr int64_t kThenMs = LegacyBed::kNowMs - 3'600'000;

struct Killed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The log, the old store and the topic of jobs; a process gets nothing else.
struct World {
  explicit World(LegacyLayoutConfig layout = {}) : bed(std::move(layout)) { log.trouble = 0; }

  void append(std::string json, int64_t log_ms, int32_t partition = 0) {
    const int64_t now_ms = clock.now_ms();
    clock.advance_to_ms(log_ms);
    log.append("plays", PartitionId(partition), std::move(json));
    clock.advance_to_ms(now_ms);
  }
  static std::string json(const std::string& event, const std::string& user, const std::string& item,
                          int64_t time_ms, const std::string& scene = "") {
    return R"({"event":")" + event + R"(","user":")" + user + R"(","item":")" + item + R"(","scene":")" + scene +
           R"(","time":)" + std::to_string(time_ms) + "}";
  }
  void event(const std::string& kind, const std::string& user, const std::string& item, int64_t time_ms,
             int32_t partition = 0) {
    append(json(kind, user, item, time_ms), time_ms + 1'000, partition);
  }
  // So many plays of the users u0 to u9 on both partitions, also noted in `expected`.
  void fill(int plays) {
    for (int i = 0; i < plays; ++i) {
      const std::string user = "u" + std::to_string(filled % 10), item = "v" + std::to_string(filled / 13);
      event("play", user, item, kThenMs + filled * 100, filled % 2);
      expected[user][item] = kThenMs + filled * 100;
      ++filled;
    }
  }

  std::map<std::string, int64_t> set(const std::string& key) {
    std::map<std::string, int64_t> members;
    const RedisReply reply = bed.server.reply({"ZRANGE", key, "0", "-1", "WITHSCORES"});
    for (size_t i = 0; i + 1 < reply.elements.size(); i += 2)
      members[reply.elements[i].bytes] = std::stoll(reply.elements[i + 1].bytes);
    return members;
  }
  void check_expected() {
    for (const auto& [user, items] : expected) {
      INFO(user);
      CHECK(set("hist:" + user) == items);
    }
    CHECK(bed.server.ask({"DBSIZE"}) == std::to_string(expected.size()) + "\n");
  }

  Result<JobRecord> run(const std::function<bool()>& stop = {}) {
    auto job = ExportJob::create(config, {bed.layout, *bed.client, source, refused});
    BLOOMRING_TRY(job.status());
    MemoryJobBoard board(topic);
    JobRunnerConfig runner;
    runner.name = "back";
    runner.run = std::to_string(topic.records.size());
    runner.rate = rate;
    runner.save_interval_ms = 5;
    const auto wait = [&](int64_t wait_ns) {
      clock.advance_ms(std::max<int64_t>(1, wait_ns / 1'000'000));
      log.pump();
      return stop && stop();
    };
    return JobRunner(runner, **job, board, {clock, wait}).run();
  }
  uint64_t count(const JobRecord& record, const std::string& name, const std::string& reason = {}) {
    return count_of(record.counts, name, reason);
  }

  LegacyBed bed;
  simulation::Random random{1};
  ManualClock clock{LegacyBed::kNowMs};
  simulation::SimLog log{random, clock};
  simulation::SimReplayLog source{log, {{"plays", 2}}};
  MemoryJobTopic topic;
  FoundFile refused = FoundFile::open("").value();
  ExportConfig config = [] {
    ExportConfig made;
    made.brokers = "site:9092";
    made.topics = {"plays"};
    made.until = "now";
    return made;
  }();
  double rate = 1e9;
  int filled = 0;
  std::map<std::string, std::map<std::string, int64_t>> expected;
};

}  // namespace

TEST_CASE("export: every play is a member of its user's set, with its latest time") {
  World world;
  world.fill(5'000);
  const auto end = world.run();
  INFO(end.status().message());
  REQUIRE(end.ok());
  CHECK(end->state == JobState::kDone);
  CHECK(end->progress == JobProgress{5'000, 5'000});
  CHECK(world.count(*end, "plays") == 5'000);
  world.check_expected();
}

TEST_CASE("export: without an end it goes on with what is played next, until it is stopped, and then goes on there") {
  World world;
  world.config.until = "";
  world.fill(100);
  int turns = 0;
  const auto more = [&] {
    if (++turns % 10 == 0) world.fill(50);
    return turns > 200;
  };
  const auto stopped = world.run(more);
  REQUIRE(stopped.ok());
  CHECK(stopped->state == JobState::kStopped);
  CHECK(world.count(*stopped, "plays") > 900);
  world.fill(300);
  turns = 0;
  const auto again = world.run([&] { return ++turns > 50; });
  REQUIRE(again.ok());
  CHECK(world.count(*again, "plays") == static_cast<uint64_t>(world.filled));
  CHECK(again->progress.done == again->progress.total);
  world.check_expected();
}

TEST_CASE("export: a forget removes what was played before it and keeps the rest, and what comes late stays out") {
  World world;
  world.event("play", "u1", "gone", kThenMs);
  world.event("play", "u1", "kept", kThenMs);
  world.event("forget", "u1", "gone", kThenMs + 2'000);
  world.event("play", "u1", "later", kThenMs + 9'000);
  world.event("forget", "u1", "later", kThenMs + 8'999);
  world.event("play", "u1", "at-once", kThenMs + 9'000);
  world.event("forget", "u1", "at-once", kThenMs + 9'000);
  world.event("play", "u1", "gone", kThenMs + 1'000);  // Late: it happened before the forget.
  world.event("play", "u2", "a", kThenMs);
  world.event("play", "u2", "b", kThenMs + 5'000);
  world.event("forget_all", "u2", "", kThenMs + 4'000);
  world.event("play", "u2", "c", kThenMs + 3'000);  // Late.
  const auto end = world.run();
  REQUIRE(end.ok());
  using Set = std::map<std::string, int64_t>;
  CHECK(world.set("hist:u1") == Set{{"kept", kThenMs}, {"later", kThenMs + 9'000}});
  CHECK(world.set("hist:u2") == Set{{"b", kThenMs + 5'000}});
  CHECK(world.count(*end, "forgets") == 4);
  CHECK(world.count(*end, "left_out", "forgotten") == 2);
}

TEST_CASE("export: a forget removes from every set of the user in its scene, and from no other") {
  World world({.keys = {"hist:{scene}:{user}", "more:{scene}:{user}"}});
  for (const char* key : {"hist:feed:u1", "more:feed:u1", "hist:search:u1", "hist:feed:u2"})
    world.bed.server.ask({"ZADD", key, std::to_string(kThenMs), "v1", std::to_string(kThenMs), "v2"});
  world.append(World::json("forget", "u1", "v1", kThenMs + 1, "feed"), kThenMs + 2);
  world.append(World::json("play", "u1", "v3", kThenMs + 1, "feed"), kThenMs + 2);
  REQUIRE(world.run().ok());
  CHECK(world.set("hist:feed:u1") == std::map<std::string, int64_t>{{"v2", kThenMs}, {"v3", kThenMs + 1}});
  CHECK(world.set("more:feed:u1").size() == 1);
  CHECK(world.set("hist:search:u1").size() == 2);
  CHECK(world.set("hist:feed:u2").size() == 2);
}

TEST_CASE("export: what ingest refuses and what has no set is counted by its reason, and everything else is written") {
  World world;
  const Folder folder;
  world.refused = FoundFile::open(folder / "refused").value();
  world.bed.server.ask({"SET", "hist:text", "x"});
  world.event("play", "u1", "v1", kThenMs);
  world.append("{nonsense", kThenMs);
  world.append(R"({"user":"u1","time":1})", kThenMs);
  world.append(World::json("play", "u1", "v2", kThenMs, "no-such-scene"), kThenMs);
  world.event("play", "text", "v1", kThenMs);
  world.event("serve", "u1", "v3", kThenMs);
  const auto end = world.run();
  REQUIRE(end.ok());
  CHECK(end->state == JobState::kDoneDifferences);
  CHECK(world.set("hist:u1").size() == 1);
  CHECK(world.bed.server.ask({"GET", "hist:text"}) == "x\n");
  CHECK(world.count(*end, "refused", "malformed_json") == 1);
  CHECK(world.count(*end, "refused", "missing_field") == 1);
  CHECK(world.count(*end, "refused", "no_key") == 1);
  CHECK(world.count(*end, "refused", "wrong_type") == 1);
  CHECK(world.count(*end, "left_out", "serve") == 1);
  std::ifstream file(folder / "refused");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  REQUIRE(lines.size() == 4);
  CHECK_THAT(lines[0], Catch::Contains(R"("partition":"0","offset":"1","reason":"malformed_json")"));
  CHECK(lines[3] == R"({"key":"hist:text","reason":"wrong_type"})");
}

TEST_CASE("export: times in whole seconds are those that a migration reads as bloomring has them") {
  World world({.score_unit = TimeUnit::kSeconds});
  world.config.mapping.time_unit = TimeUnit::kSeconds;
  const int64_t then_s = kThenMs / 1'000;
  world.append(World::json("play", "u1", "v1", then_s), kThenMs + 2'000);
  world.append(World::json("play", "u1", "v2", then_s), kThenMs + 2'000);
  world.append(World::json("forget", "u1", "v1", then_s), kThenMs + 2'000);      // In its second: takes no play of it.
  world.append(World::json("forget", "u1", "v2", then_s + 1), kThenMs + 2'000);
  REQUIRE(world.run().ok());
  CHECK(world.set("hist:u1") == std::map<std::string, int64_t>{{"v1", then_s}});
  LegacyPlay read;
  REQUIRE(world.bed.layout.read_member("v1", std::to_string(then_s), LegacyBed::kNowMs, read) == LegacyRefusal::kNone);
  CHECK(read.time_ms == then_s * 1'000 + 999);  // As ingest has it: the latest time of the second.
}

TEST_CASE("export: a job that is killed at any of its durable steps ends as one that is not") {
  for (const std::string point :
       {"export.read", "export.written", "job.begun", "job.before_save", "job.saved", "job.before_end"}) {
    for (const int visit : {1, 2, 7, 23}) {
      INFO(point << " " << visit);
      World world;
      world.rate = 20'000;
      world.fill(700);
      world.event("play", "u1", "gone", kThenMs);
      world.event("forget", "u1", "gone", kThenMs + 1'000);
      int visits = 0, kills = 0;
      set_fault_handler([&](std::string_view name) {
        if (name == point && ++visits == visit) throw Killed(point);
      });
      auto ended = Result<JobRecord>(retry("not begun"));
      while (!ended.ok() && kills < 2) {
        try {
          ended = world.run();
        } catch (const Killed&) {
          ++kills;
        }
      }
      set_fault_handler({});
      REQUIRE(ended.ok());
      CHECK((kills == 1 || visits < visit));
      world.check_expected();
      CHECK(ended->progress == JobProgress{702, 702});
    }
  }
}

TEST_CASE("export: nothing passes an old store that is away, and another start goes on when it is back") {
  World world;
  world.bed.server.ask({"CONFIG", "SET", "appendonly", "yes"});
  RedisClientConfig redis;
  redis.addresses = {world.bed.server.address()};
  redis.timeout_ms = 200;
  redis.names = {.store = "old store", .settings = "migrate"};
  world.bed.client = std::make_unique<RedisClient>("test", redis, world.bed.counters);
  world.fill(300);
  world.bed.server.kill_now();
  const auto failed = world.run();
  CHECK(failed.code() == Code::kRetry);
  CHECK_THAT(failed.status().message(), Catch::Contains("old store") || Catch::Contains("migrate.addresses"));
  JobBook book;
  for (const auto& [key, value] : world.topic.records) book.apply(key, value);
  REQUIRE(book.find("back") != nullptr);
  CHECK(book.find("back")->progress.done == 0);
  world.bed.server.start();
  const auto end = world.run();
  REQUIRE(end.ok());
  CHECK(end->state == JobState::kDone);
  world.check_expected();
}

TEST_CASE("export: partitions that a topic gets while it is followed are read from their begin") {
  World world;
  world.config.until = "";
  world.fill(20);
  simulation::SimReplayLog& source = world.source;
  int turns = 0;
  REQUIRE(world.run([&] {
                 if (++turns == 20) {
                   source.add_partitions("plays", 1);
                   world.event("play", "new", "v1", kThenMs, 2);
                   world.clock.advance_ms(ExportJob::kLookForPartitionsMs);
                 }
                 return turns > 100;
               }).ok());
  world.expected["new"]["v1"] = kThenMs;
  world.check_expected();
}

TEST_CASE("export: other patterns, bounds or topics are another job") {
  World world;
  world.fill(10);
  world.config.parameters = {{"migrate.score_unit", "ms"}};
  int turns = 0;
  world.rate = 100;
  REQUIRE(world.run([&] { return ++turns > 1; }).ok());
  world.config.parameters = {{"migrate.score_unit", "s"}};
  const auto refused = world.run();
  CHECK(refused.code() == Code::kInvalid);
  CHECK_THAT(refused.status().message(), Catch::Contains("migrate.score_unit was 'ms', it is 's' now"));
}

TEST_CASE("export: the plan counts what there is, says what it touches, and writes nothing") {
  World world;
  world.fill(40);
  world.config.bounds = {.members_max = 5, .ttl_seconds = 60};
  const ExportSurroundings around{world.bed.layout, *world.bed.client, world.source, world.refused};
  auto job = ExportJob::create(world.config, around).value();
  const JobPlan plan = job->plan().value();
  CHECK(plan.total == 40);
  CHECK(plan.touches.size() == 4);
  CHECK(world.bed.server.ask({"DBSIZE"}) == "0\n");
}
