// The job over a real redis-server and a log in memory: the plays in the log, the refusals, and kills at each of its
// durable steps.
#include "pipeline/jobs/migrate/migrate_job.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <stdexcept>

#include "base/faults/fault_point.h"
#include "base/hash.h"
#include "pipeline/jobs/job_runner.h"
#include "schemas/legacy/migrated_marks.h"
#include "tests/pipeline/jobs/migrate/legacy_bed.h"
#include "tests/support/folder.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_job_board.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

constexpr uint32_t kPartitions = 10;

// user-events: every play that was written, with its event time. Acknowledges when it is asked.
class MemoryLog final : public Sink {
 public:
  Status send(OutRecord& record, uint64_t ticket) override {
    if (full || unacknowledged_.size() == 8) return retry("the queue is full");
    auto block = EventBlockReader::open(record.value, record.partition, kPartitions);
    REQUIRE(block.ok());
    CHECK(record.topic == "user-events");
    largest = std::max(largest, block->events());
    if (seen) seen(*block, unacknowledged_.size());
    size_t users = 0;
    for (; block->next_user(); ++users)
      while (block->next_event()) {
        CHECK(block->event().kind == EventKind::kPlay);
        plays[std::string(UserKey::from_bytes(block->user_key()).user())][block->event().item] = block->event().time_ms;
        ++events;
      }
    CHECK(users == 1);
    unacknowledged_.push_back(ticket);
    return {};
  }
  Status poll_acks(std::vector<uint64_t>& tickets) override {
    if (!silent) tickets.insert(tickets.end(), unacknowledged_.begin(), unacknowledged_.end());
    if (!silent) unacknowledged_.clear();
    return {};
  }

  // For another process: acknowledgements of the one before reach nobody.
  Sink* open() {
    unacknowledged_.clear();
    return this;
  }

  bool full = false;    // FAULT: takes nothing.
  bool silent = false;  // FAULT: acknowledges nothing.
  std::map<std::string, std::map<ItemHash, int64_t>> plays;
  std::function<void(EventBlockReader block, size_t unacknowledged)> seen{};  // Told of each block.
  uint64_t events = 0;   // Also repeated ones.
  uint64_t largest = 0;  // Block.

 private:
  std::vector<uint64_t> unacknowledged_;
};

MigrateConfig config(size_t page_members = 50) {
  MigrateConfig config;
  config.events_topic = "user-events";
  config.partition_count = kPartitions;
  config.block_events = 40;
  config.page_members = page_members;
  config.sets_at_once = 4;
  return config;
}

// Another process shares only the old store, the log and the topic of jobs with this one.
struct World {
  LegacyBed bed;
  MemoryLog log;
  MemoryJobTopic topic;
  FoundFile refused = FoundFile::open("").value();
};

Result<JobRecord> run(World& world, const MigrateConfig& how = config(), double rate = 1e9,
                      const std::function<bool()>& stop = {}) {
  ScannedKeys keys(*world.bed.client, world.bed.layout.glob());
  MigrateJob job(how, {world.bed.layout, *world.bed.client, keys, world.bed.calendar, world.refused,
                       [&] { return Result<Sink*>(world.log.open()); }});
  ManualClock clock(LegacyBed::kNowMs);
  MemoryJobBoard board(world.topic);
  JobRunnerConfig runner;
  runner.name = "old";
  runner.run = std::to_string(world.topic.records.size());
  runner.rate = rate;
  runner.save_interval_ms = 5;
  const auto wait = [&](int64_t wait_ns) {
    clock.advance_ms(std::max<int64_t>(1, wait_ns / 1'000'000));
    return stop && stop();
  };
  return JobRunner(runner, job, board, {clock, wait}).run();
}

uint64_t count(const JobRecord& record, std::string_view name, std::string_view reason = {}) {
  return count_of(record.counts, name, reason);
}

// Every play of the bed, with its time.
void check_user(World& world, const std::string& user, size_t plays) {
  const auto& found = world.log.plays[user];
  CHECK(found.size() == plays);
  for (size_t i = 0; i < plays; ++i) {
    const auto play = found.find(item_hash(user + "-" + std::to_string(i)));
    REQUIRE(play != found.end());
    CHECK(play->second == LegacyBed::kNowMs - 3'600'000 - static_cast<int64_t>(plays - 1 - i) * 60'000);
  }
}

struct Killed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace

TEST_CASE("migrate: every member of every set is a play with the time of its score, of light and heavy users") {
  World world;
  world.bed.play("heavy", 12'345);
  for (int i = 0; i < 300; ++i) world.bed.play("u" + std::to_string(i), static_cast<size_t>(i % 60));
  const auto record = run(world);
  REQUIRE(record.ok());
  CHECK(record->state == JobState::kDone);
  check_user(world, "heavy", 12'345);
  size_t plays = 12'345;
  for (size_t i = 0; i < 300; ++i) {
    if (i % 60 > 0) check_user(world, "u" + std::to_string(i), i % 60);
    plays += i % 60;
  }
  CHECK(count(*record, "plays") == plays);
  CHECK(count(*record, "sets") == 296);  // Redis keeps no empty set.
  CHECK(world.log.events == plays);
  CHECK(world.log.largest == 40);
  CHECK(world.bed.server.ask({"DBSIZE"}) == "296\n");
}

TEST_CASE("migrate: what is no play is counted by its reason and written down, and everything else comes in") {
  World world;
  const Folder folder;
  world.refused = FoundFile::open(folder / "refused").value();
  world.bed.play("u1", 5);
  const std::string now = std::to_string(LegacyBed::kNowMs);
  const auto add = [&](const std::string& key, const std::string& score, const std::string& member) {
    world.bed.server.ask({"ZADD", key, score, member});
  };
  add("hist:u1", "-inf", "never");
  add("hist:u1", "1649314823", "seconds");
  add("hist:u1", "9e18", "ahead");
  add("hist:u1", now, std::string(129, 'i'));
  add("hist:u1", now, "\xff\xfe");
  add("hist:", now, "v1");
  add("hist:old", "1262304000000", "v1");  // 2010: beyond retention.
  world.bed.server.ask({"SET", "hist:text", "x"});
  world.bed.server.ask({"RPUSH", "hist:list", "x"});
  const auto record = run(world);
  REQUIRE(record.ok());
  CHECK(record->state == JobState::kDoneDifferences);
  CHECK(exit_code_of(*record) == 3);
  check_user(world, "u1", 5);
  CHECK(world.log.plays.size() == 1);
  CHECK(count(*record, "plays") == 5);
  CHECK(count(*record, "expired") == 1);
  CHECK(count(*record, "refused", "not_a_time") == 1);
  CHECK(count(*record, "refused", "time_too_early") == 1);
  CHECK(count(*record, "refused", "time_ahead") == 1);
  CHECK(count(*record, "refused", "id_too_long") == 1);
  CHECK(count(*record, "refused", "bad_text") == 1);
  CHECK(count(*record, "refused", "empty_id") == 1);
  CHECK(count(*record, "refused", "wrong_type") == 2);
  std::ifstream file(folder / "refused");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  CHECK(lines.size() == 8);
  const std::string never = R"({"key":"hist:u1","member":"never","score":"-inf","reason":"not_a_time"})";
  CHECK(std::count(lines.begin(), lines.end(), never) == 1);
  CHECK(std::count(lines.begin(), lines.end(), R"({"key":"hist:list","reason":"wrong_type"})") == 1);
}

TEST_CASE("migrate: a job that is killed at any of its durable steps ends as one that is not") {
  for (const std::string point : {"migrate.read", "migrate.block_sent", "migrate.acknowledged", "job.before_save",
                                  "job.saved", "job.before_end"}) {
    for (const int visit : {1, 2, 7, 23}) {
      INFO(point << " " << visit);
      World world;
      world.bed.play("heavy", 700);
      for (int i = 0; i < 30; ++i) world.bed.play("u" + std::to_string(i), 20);
      int visits = 0, kills = 0;
      set_fault_handler([&](std::string_view name) {
        if (name == point && ++visits == visit) throw Killed(point);
      });
      auto ended = Result<JobRecord>(retry("not begun"));
      while (!ended.ok() && kills < 2) {
        try {
          ended = run(world, config(), 1e5);
        } catch (const Killed&) {
          ++kills;
        }
      }
      set_fault_handler({});
      REQUIRE(ended.ok());
      CHECK((kills == 1 || visits < visit));
      check_user(world, "heavy", 700);
      for (int i = 0; i < 30; ++i) check_user(world, "u" + std::to_string(i), 20);
      CHECK(count(*ended, "sets") >= 31);
    }
  }
}

TEST_CASE("migrate: the marks of a set are its last block, behind all of its plays, also after kills") {
  for (const std::string point : {"", "migrate.read", "migrate.block_sent", "migrate.acknowledged", "job.saved"}) {
    for (const int visit : {1, 5, 12}) {
      INFO(point << " " << visit);
      World world;
      world.bed.play("heavy", 700);
      for (int i = 0; i < 20; ++i) world.bed.play("u" + std::to_string(i), 90);
      MigrateConfig how = config();
      how.marks_false_positive_rate = 0.01;
      std::map<std::string, std::set<ItemHash>> plays;  // Of the log, by user.
      size_t marked = 0;
      world.log.seen = [&](EventBlockReader block, size_t) {
        while (block.next_user()) {
          const std::string user(UserKey::from_bytes(block.user_key()).user());
          const std::vector<ItemHash> marks = migrated_marks("hist:" + user, 0.01);
          size_t marks_found = 0;
          while (block.next_event()) {
            const bool is_mark = std::ranges::find(marks, block.event().item) != marks.end();
            if (is_mark) ++marks_found;
            if (!is_mark) plays[user].insert(block.event().item);
          }
          if (marks_found == 0) continue;
          CHECK(marks_found == marks.size());
          CHECK(plays[user].size() == (user == "heavy" ? 700 : 90));
          ++marked;
        }
      };
      int visits = 0;
      set_fault_handler([&](std::string_view name) {
        if (name == point && ++visits == visit) throw Killed(point);
      });
      auto ended = Result<JobRecord>(retry("not begun"));
      for (int starts = 0; !ended.ok() && starts < 2; ++starts) {
        try {
          ended = run(world, how, 1e5);
        } catch (const Killed&) {
        }
      }
      set_fault_handler({});
      REQUIRE(ended.ok());
      CHECK(marked >= 21);
      CHECK(count(*ended, "marked") >= 21);
      CHECK(count(*ended, "plays") >= 2'500);
    }
  }
}

TEST_CASE("migrate: no mark is sent while a play of its set is not acknowledged") {
  World world;
  world.bed.play("u1", 90);  // Three blocks.
  MigrateConfig how = config(1'000);
  how.marks_false_positive_rate = 0.01;
  world.log.silent = true;
  size_t blocks = 0;
  world.log.seen = [&](const EventBlockReader&, size_t) { ++blocks; };
  int turns = 0;
  const auto stopped = run(world, how, 1e9, [&] { return ++turns > 2'000; });
  REQUIRE(stopped.ok());
  CHECK(blocks == 3);
  CHECK(stopped->position.empty());
  world.log.silent = false;
  blocks = 0;
  REQUIRE(run(world, how).ok());
  CHECK(blocks == 4);
}

TEST_CASE("migrate: a job that is stopped goes on, and does not begin again") {
  World world;
  for (int i = 0; i < 3'000; ++i) world.bed.play("u" + std::to_string(i), 3);
  int turns = 0;
  const auto stopped = run(world, config(), 1e9, [&] { return ++turns > 200; });
  REQUIRE(stopped.ok());
  CHECK(stopped->state == JobState::kStopped);
  CHECK_FALSE(stopped->position.empty());
  const uint64_t before = world.log.events;
  CHECK(before > 1'000);
  CHECK(before < 9'000);
  const auto ended = run(world);
  REQUIRE(ended.ok());
  CHECK(ended->state == JobState::kDone);
  CHECK(world.log.plays.size() == 3'000);
  CHECK(world.log.events < 9'000 + 3 * 8'000 / 2);
  CHECK(run(world)->state == JobState::kDone);
  CHECK(count(*run(world), "sets") == count(*ended, "sets"));
}

TEST_CASE("migrate: no set is done before its plays are acknowledged") {
  World world;
  for (int i = 0; i < 20; ++i) world.bed.play("u" + std::to_string(i), 3);
  world.log.silent = true;
  int turns = 0;
  const auto stopped = run(world, config(), 1e9, [&] { return ++turns > 3'000; });
  REQUIRE(stopped.ok());
  CHECK(stopped->state == JobState::kStopped);
  CHECK(stopped->position.empty());
  CHECK(world.log.events > 0);
  world.log.silent = false;
  CHECK(run(world)->state == JobState::kDone);
  CHECK(world.log.plays.size() == 20);
}

TEST_CASE("migrate: other patterns, another unit or another share are another job") {
  World world;
  world.bed.play("u1", 3);
  MigrateConfig how = config();
  how.parameters = {{"migrate.score_unit", "ms"}};
  int turns = 0;
  REQUIRE(run(world, how, 1e9, [&] { return ++turns > 1; }).ok());
  how.parameters = {{"migrate.score_unit", "s"}};
  const auto refused = run(world, how);
  CHECK(refused.code() == Code::kInvalid);
  CHECK_THAT(refused.status().message(), Catch::Contains("migrate.score_unit was 'ms', it is 's' now"));
}

TEST_CASE("migrate: jobs that share the users migrate each user once") {
  World world;
  for (int i = 0; i < 200; ++i) world.bed.play("u" + std::to_string(i), 2);
  uint64_t sets = 0;
  for (uint32_t i = 0; i < 3; ++i) {
    world.topic.records.clear();
    MigrateConfig how = config();
    how.share = {i, 3};
    const auto record = run(world, how);
    REQUIRE(record.ok());
    CHECK(count(*record, "sets") > 30);
    sets += count(*record, "sets");
  }
  CHECK(sets == 200);
  CHECK(world.log.plays.size() == 200);
  CHECK(world.log.events == 400);
}

TEST_CASE("migrate: the plan counts by a sample, warns of a wrong unit, and writes nothing") {
  World world;
  for (int i = 0; i < 100; ++i) world.bed.play("u" + std::to_string(i), 30);
  const LegacyLayout seconds = LegacyLayout::create({.score_unit = TimeUnit::kSeconds}).value();
  ScannedKeys keys(*world.bed.client, world.bed.layout.glob());
  const auto plan_of = [&](const LegacyLayout& layout) {
    MigrateJob job(config(), {layout, *world.bed.client, keys, world.bed.calendar, world.refused,
                              [&] { return Result<Sink*>(&world.log); }, LegacyBed::kNowMs});
    return job.plan().value();
  };
  const JobPlan plan = plan_of(world.bed.layout);
  CHECK(plan.total == 100);
  REQUIRE_FALSE(plan.facts.empty());
  CHECK(plan.facts.back().text == "about 3000, by 3000 in a sample of 100 sets");
  CHECK(plan.warnings.empty());
  const JobPlan wrong = plan_of(seconds);
  REQUIRE(wrong.warnings.size() == 1);
  CHECK(wrong.warnings[0] == "3000 of the sample would be refused as time_ahead: is migrate.score_unit right?");
  const JobPlan foreign = plan_of(LegacyLayout::create({.keys = {"other:{user}"}}).value());
  CHECK(foreign.warnings.size() == 2);
  CHECK(world.log.events == 0);
}

TEST_CASE("migrate: an old store that is away fails the job by its name, and another start goes on") {
  World world;
  for (int i = 0; i < 50; ++i) world.bed.play("u" + std::to_string(i), 2);
  world.bed.server.kill_now();
  RedisClientConfig redis;
  redis.addresses = {world.bed.server.address()};
  redis.timeout_ms = 200;
  redis.names = {.store = "old store", .settings = "migrate"};
  world.bed.client = std::make_unique<RedisClient>("test", redis, world.bed.counters);
  const auto failed = run(world);
  CHECK(failed.code() == Code::kRetry);
  CHECK(world.log.events == 0);
  CHECK_THAT(failed.status().message(), Catch::Contains("old store") || Catch::Contains("migrate.addresses"));
}
