// The job over a real redis-server and a service in memory.
#include "pipeline/jobs/migrate/verify_job.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>

#include "base/faults/fault_point.h"
#include "pipeline/jobs/job_runner.h"
#include "tests/pipeline/jobs/migrate/legacy_bed.h"
#include "tests/support/folder.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_job_board.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

// Everything that it was asked about is seen, except what is said otherwise.
struct Service {
  Result<std::vector<Result<FilterReply>>> ask(const std::vector<FilterCall>& calls) {
    ++questions;
    if (questions <= away) return retry("no service");
    std::vector<Result<FilterReply>> replies;
    for (const FilterCall& call : calls) {
      CHECK(call.strict);
      FilterReply reply;
      reply.complete = questions > incomplete;
      reply.expected_error = 0.004;
      for (const std::string& item : call.items) {
        asked.insert(call.user + "/" + item);
        const bool probe = item.starts_with("bloomring-probe-");
        probes += probe ? 1 : 0;
        const auto late = unseen_for.find(item);
        const bool unseen = late != unseen_for.end() && late->second-- > 0;
        reply.items.push_back({probe ? probes_seen : !unseen, Reason::kNone, {}});
      }
      replies.emplace_back(std::move(reply));
    }
    return replies;
  }
  std::map<std::string, int> unseen_for;  // How often the item is unseen first.
  bool probes_seen = false;
  int away = 0;        // FAULT: fails the first questions.
  int incomplete = 0;  // FAULT: answers the first questions incompletely.
  int questions = 0;
  int probes = 0;
  std::set<std::string> asked;
};

struct World {
  LegacyBed bed;
  Service service;
  MemoryJobTopic topic;
  Folder folder;
  VerifyConfig config;
  int64_t ms = 0;  // That the last run took.

  Result<JobRecord> run(const std::function<bool()>& stop = {}) {
    FoundFile missing = FoundFile::open(folder / "missing").value();
    ScannedKeys keys(*bed.client, bed.layout.glob());
    config.page_members = 50;
    config.sets_at_once = 4;
    VerifyJob job(config, {bed.layout, *bed.client, keys, bed.calendar, missing,
                           [this](const std::vector<FilterCall>& calls) { return service.ask(calls); }});
    ManualClock clock(LegacyBed::kNowMs);
    MemoryJobBoard board(topic);
    JobRunnerConfig runner;
    runner.name = "compare";
    runner.run = std::to_string(topic.records.size());
    runner.rate = 1e9;
    runner.save_interval_ms = 5;
    const auto wait = [&](int64_t wait_ns) {
      clock.advance_ms(std::max<int64_t>(1, wait_ns / 1'000'000));
      return stop && stop();
    };
    auto record = JobRunner(runner, job, board, {clock, wait}).run();
    ms = clock.now_ms() - LegacyBed::kNowMs;
    return record;
  }
  std::vector<std::string> missing() const {
    std::ifstream file(folder / "missing");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
};

uint64_t count(const Result<JobRecord>& record, std::string_view name, std::string_view reason = {}) {
  REQUIRE(record.ok());
  return count_of(record->counts, name, reason);
}

}  // namespace

TEST_CASE("verify: every member of every set is asked for once where all are seen, and the end is exit code 0") {
  World world;
  world.bed.play("heavy", 345);
  for (int i = 0; i < 30; ++i) world.bed.play("u" + std::to_string(i), 7);
  const auto record = world.run();
  CHECK(count(record, "asked") == 345 + 30 * 7);
  CHECK(count(record, "sets") == 31);
  CHECK(count(record, "missing") == 0);
  CHECK(count(record, "probes") == 310);
  CHECK(count(record, "expected_error_ppm") == 4000);
  CHECK(record->state == JobState::kDone);
  CHECK(world.service.asked.size() == 345 + 30 * 7 + 310);
  CHECK(world.missing().empty());
}

TEST_CASE("verify: a member that is seen in the second or third round was on its way") {
  World world;
  world.bed.play("u1", 20);
  world.service.unseen_for = {{"u1-3", 1}, {"u1-4", 2}};
  const auto record = world.run();
  CHECK(count(record, "missing") == 0);
  CHECK(count(record, "seen_late") == 2);
  CHECK(record->state == JobState::kDone);
  CHECK(world.ms >= 2 * world.config.settle_ms);
}

TEST_CASE("verify: a member that is unseen three times is missing, named in the file, and the end is exit code 3") {
  World world;
  world.bed.play("u1", 120);
  world.bed.play("u2", 3);
  world.service.unseen_for = {{"u1-3", 3}, {"u1-77", 99}};
  const auto record = world.run();
  CHECK(count(record, "missing") == 2);
  CHECK(count(record, "seen_late") == 0);
  CHECK(record->state == JobState::kDoneDifferences);
  REQUIRE(world.missing().size() == 2);
  CHECK_THAT(world.missing()[0], Catch::StartsWith(R"({"key":"hist:u1","user":"u1","scene":"","member":"u1-3",)"));
}

TEST_CASE("verify: a member that its site removed meanwhile is not missing") {
  World world;
  world.bed.play("u1", 5);
  world.service.unseen_for = {{"u1-3", 99}};
  int turns = 0;
  const auto record = world.run([&] {
    if (++turns == 20) world.bed.server.ask({"ZREM", "hist:u1", "u1-3"});
    return false;
  });
  CHECK(count(record, "missing") == 0);
  CHECK(count(record, "removed") == 1);
}

TEST_CASE("verify: what no query answers for is not asked: it is counted as expired or refused") {
  World world;
  world.bed.play("u1", 5);
  world.bed.server.ask({"ZADD", "hist:u1", std::to_string(LegacyBed::kNowMs - 130LL * 86'400'000), "july"});
  world.bed.server.ask({"ZADD", "hist:u1", std::to_string(LegacyBed::kNowMs - 110LL * 86'400'000), "august"});
  world.bed.server.ask({"ZADD", "hist:u1", "-inf", "never"});
  world.bed.server.ask({"SET", "hist:text", "x"});
  const auto record = world.run();
  CHECK(count(record, "asked") == 6);
  CHECK(count(record, "expired") == 1);
  CHECK(count(record, "refused", "not_a_time") == 1);
  CHECK(count(record, "refused", "wrong_type") == 1);
  CHECK_FALSE(world.service.asked.contains("u1/july"));
  CHECK(world.service.asked.contains("u1/august"));
  CHECK(record->state == JobState::kDone);
}

TEST_CASE("verify: probes that are seen far more often than filters promise are a difference") {
  World world;
  for (int i = 0; i < 30; ++i) world.bed.play("u" + std::to_string(i), 2);
  world.service.probes_seen = true;
  const auto record = world.run();
  CHECK(count(record, "false_positives") == 300);
  CHECK(record->state == JobState::kDoneDifferences);
}

TEST_CASE("verify: answers that fail or are not complete are no answers, and counts are those of the last ones") {
  World world;
  for (int i = 0; i < 10; ++i) world.bed.play("u" + std::to_string(i), 4);
  world.bed.server.ask({"ZADD", "hist:u1", "-inf", "never"});
  world.service.away = 3;
  world.service.incomplete = 6;
  const auto record = world.run();
  CHECK(count(record, "asked") == 40);
  CHECK(count(record, "refused", "not_a_time") == 1);
  CHECK(count(record, "probes") == 100);
  CHECK(record->state == JobState::kDone);
}

TEST_CASE("verify: a sample is the same users each time, about as many as it says") {
  World world;
  for (int i = 0; i < 400; ++i) world.bed.play("u" + std::to_string(i), 1);
  world.config.sample = 0.25;
  const uint64_t sets = count(world.run(), "sets");
  CHECK(sets > 60);
  CHECK(sets < 140);
  const auto asked = std::exchange(world.service.asked, {});
  world.topic.records.clear();
  CHECK(count(world.run(), "sets") == sets);
  CHECK(world.service.asked == asked);
}

TEST_CASE("verify: a job that is stopped with open doubts asks for them again, and loses none") {
  World world;
  for (int i = 0; i < 40; ++i) world.bed.play("u" + std::to_string(i), 3);
  for (int i = 0; i < 40; ++i) world.service.unseen_for["u" + std::to_string(i) + "-1"] = 1'000;
  int turns = 0;
  const auto stopped = world.run([&] { return ++turns > 30; });
  REQUIRE(stopped.ok());
  CHECK(stopped->state == JobState::kStopped);
  CHECK(stopped->position.empty());
  const auto record = world.run();
  CHECK(count(record, "missing") == 40);
  std::set<std::string> users;
  for (const std::string& line : world.missing()) users.insert(line.substr(0, line.find(",\"score\"")));
  CHECK(users.size() == 40);
}

TEST_CASE("verify: a job that is killed at any of its steps finds everything that is missing all the same") {
  for (const std::string point : {"verify.asked", "verify.missing", "job.saved"}) {
    for (const int visit : {1, 2, 9}) {
      INFO(point << " " << visit);
      World world;
      for (int i = 0; i < 12; ++i) {
        world.bed.play("u" + std::to_string(i), 3);
        world.service.unseen_for["u" + std::to_string(i) + "-1"] = 1'000;
      }
      int visits = 0, kills = 0;
      set_fault_handler([&](std::string_view name) {
        if (name == point && ++visits == visit) throw std::runtime_error(point);
      });
      auto ended = Result<JobRecord>(retry("not begun"));
      while (!ended.ok() && kills < 2) {
        try {
          ended = world.run();
        } catch (const std::runtime_error&) {
          ++kills;
        }
      }
      set_fault_handler({});
      REQUIRE(ended.ok());
      CHECK((kills == 1 || visits < visit));
      CHECK(count(ended, "missing") >= 12);
      std::set<std::string> users;
      for (const std::string& line : world.missing()) users.insert(line.substr(0, line.find(",\"score\"")));
      CHECK(users.size() == 12);
    }
  }
}
