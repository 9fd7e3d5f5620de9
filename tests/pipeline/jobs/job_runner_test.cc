// The way of all jobs: plan, position, pace, live signals, signals of the process, end, on a manual clock.
#include "pipeline/jobs/job_runner.h"

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <stdexcept>

#include "base/faults/fault_point.h"
#include "tests/pipeline/jobs/counting_job.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_job_board.h"

using namespace bloomring;

namespace {

constexpr int64_t kNowMs = 1'800'000'000'000;

struct Signals final : LiveSignals {
  LivePressure look() override { return now; }
  LivePressure now;
};

// One process that runs the job. Several rigs on one world and topic are several processes.
struct Rig {
  Rig(MemoryJobTopic& topic, CountedWorld& world, uint64_t total, std::string run = "run-1")
      : board(topic), job(world, total) {
    config.name = "history";
    config.run = std::move(run);
    config.rate = 1'000;
  }

  Result<JobRecord> start() {
    JobEnvironment environment{
        clock,
        [this](int64_t wait_ns) {
          clock.advance_ms(std::max<int64_t>(wait_ns / 1'000'000, 1));
          if (turn) turn();
          return stop;
        },
        [this](const JobRecord&, double rate) { rates.push_back(rate); }, &signals};
    return JobRunner(config, job, board, std::move(environment)).run();
  }
  Result<JobPreview> plan() { return JobRunner(config, job, board, {clock, [](int64_t) { return false; }}).plan(); }
  double seconds() const { return static_cast<double>(clock.now_ms() - kNowMs) / 1e3; }

  ManualClock clock{kNowMs};
  MemoryJobBoard board;
  CountingJob job;
  Signals signals;
  JobRunnerConfig config;
  std::function<void()> turn;  // Called whenever the runner waits.
  bool stop = false;
  std::vector<double> rates;
};

struct World {
  MemoryJobTopic topic;
  CountedWorld counted;
  JobRecord record() {
    MemoryJobBoard board(topic);
    REQUIRE(board.refresh().ok());
    REQUIRE(board.book().find("history") != nullptr);
    return *board.book().find("history");
  }
};

}  // namespace

TEST_CASE("job runner: a job ends with everything done, a record that says so, and exit code 0") {
  World world;
  Rig rig(world.topic, world.counted, 5'000);
  const auto end = rig.start();
  REQUIRE(end.ok());
  CHECK(end->state == JobState::kDone);
  CHECK(exit_code_of(*end) == 0);
  CHECK(world.counted.counted == 5'000);
  CHECK(world.record() == *end);
  CHECK(end->progress == JobProgress{5'000, 5'000});
  CHECK(end->counts == JobCounts{{"counted", "", 5'000}});
}

TEST_CASE("job runner: what a job found makes the exit code 3, and a stop 1") {
  World world;
  Rig rig(world.topic, world.counted, 100);
  rig.job.differs = true;
  CHECK(exit_code_of(*rig.start()) == 3);
  CHECK(world.record().state == JobState::kDoneDifferences);
  JobRecord stopped;
  stopped.state = JobState::kStopped;
  CHECK(exit_code_of(stopped) == 1);
}

TEST_CASE("job runner: a plan changes nothing, anywhere") {
  World world;
  Rig rig(world.topic, world.counted, 500);
  const auto preview = rig.plan();
  REQUIRE(preview.ok());
  CHECK(preview->plan.total == 500);
  CHECK(preview->rate == 1'000);
  CHECK_FALSE(preview->before);
  CHECK(world.topic.records.empty());
  CHECK(world.counted.counted == 0);
  CHECK(rig.job.steps == 0);
}

TEST_CASE("job runner: a job keeps to its rate, and does not make up for a pause") {
  World world;
  Rig rig(world.topic, world.counted, 20'000);
  bool paused = false;
  rig.turn = [&] {
    if (!paused && world.counted.counted > 5'000) {
      rig.clock.advance_ms(60'000);  // The machine slept.
      paused = true;
    }
  };
  REQUIRE(rig.start().ok());
  CHECK(paused);
  CHECK(rig.seconds() > 60 + 19.5);
  CHECK(rig.seconds() < 60 + 21);
  CHECK(rig.job.units_most <= 100);  // A tenth of a second.
}

TEST_CASE("job runner: a rate that somebody asks for holds at once, and at the next start that names none") {
  World world;
  Rig rig(world.topic, world.counted, 20'000);
  MemoryJobBoard other(world.topic);
  bool asked = false;
  rig.turn = [&] {
    if (asked || world.counted.counted < 2'000) return;
    asked = true;
    REQUIRE(other.write(rate_key("history"), encode_job_rate(10'000)).ok());
  };
  const auto end = rig.start();
  REQUIRE(end.ok());
  CHECK(end->rate == 10'000);
  CHECK(rig.seconds() > 2 + 1.7);
  CHECK(rig.seconds() < 2 + 2.1);

  Rig named(world.topic, world.counted, 20'000), unnamed(world.topic, world.counted, 20'000);
  unnamed.config.rate.reset();
  CHECK(named.plan()->rate == 1'000);
  CHECK(unnamed.plan()->rate == 10'000);
}

TEST_CASE("job runner: live signals halve the rate each second, stop it, and let it go again") {
  World world;
  Rig rig(world.topic, world.counted, 1'000'000);
  rig.config.rate = 6'400;
  int64_t at_ms = 0;
  std::map<int64_t, uint64_t> counted;  // By second.
  rig.turn = [&] {
    at_ms = rig.clock.now_ms() - kNowMs;
    counted[at_ms / 1'000] = world.counted.counted;
    rig.signals.now = {};
    if (at_ms >= 10'000) rig.signals.now = {Pressure::kHigh, "ingest is 4 s behind"};
    if (at_ms >= 20'000) rig.signals.now = {Pressure::kStop, "ingest is 40 s behind"};
    if (at_ms >= 30'000) rig.signals.now = {};
    rig.stop = at_ms >= 70'000;
  };
  const auto end = rig.start();
  REQUIRE(end.ok());
  CHECK(counted[9] - counted[8] > 6'300);
  CHECK(counted[12] - counted[11] < 3'000);
  CHECK(counted[18] - counted[17] < 120);  // 1/64 of the rate.
  CHECK(counted[18] - counted[17] > 80);
  CHECK(counted[29] == counted[22]);
  CHECK(counted[65] - counted[64] > 6'300);
  CHECK(end->slowed_by.empty());
}

TEST_CASE("job runner: a record of a job that is slowed says by what") {
  World world;
  Rig rig(world.topic, world.counted, 1'000'000);
  rig.signals.now = {Pressure::kHigh, "serve is 3 s behind"};
  rig.turn = [&] { rig.stop = rig.clock.now_ms() - kNowMs > 10'000; };
  REQUIRE(rig.start().ok());
  CHECK(world.record().slowed_by == "serve is 3 s behind");
  CHECK(world.record().share < 0.02);
}

TEST_CASE("job runner: a stop settles what is under way, and the next start goes on behind it") {
  World world;
  Rig rig(world.topic, world.counted, 5'000);
  rig.turn = [&] { rig.stop = world.counted.counted > 1'000; };
  const auto stopped = rig.start();
  REQUIRE(stopped.ok());
  CHECK(stopped->state == JobState::kStopped);
  CHECK(rig.job.settles > 0);
  const uint64_t counted = world.counted.counted;
  CHECK(stopped->position == std::to_string(counted));

  Rig next(world.topic, world.counted, 5'000, "run-2");
  const auto end = next.start();
  REQUIRE(end.ok());
  CHECK(world.counted.began_at == counted);
  CHECK(world.counted.counted == 5'000);  // Nothing twice.
  CHECK(end->started_ms == stopped->started_ms);
  CHECK(end->counts == JobCounts{{"counted", "", 5'000}});
}

TEST_CASE("job runner: a job that is done is not done again") {
  World world;
  REQUIRE(Rig(world.topic, world.counted, 500).start().ok());
  const size_t records = world.topic.records.size();
  Rig again(world.topic, world.counted, 500, "run-2");
  const auto end = again.start();
  REQUIRE(end.ok());
  CHECK(end->state == JobState::kDone);
  CHECK(again.job.steps == 0);
  CHECK(world.topic.records.size() == records);
}

TEST_CASE("job runner: a changed parameter, and another kind of job, are refused by name") {
  World world;
  Rig rig(world.topic, world.counted, 5'000);
  rig.stop = true;
  REQUIRE(rig.start().ok());
  Rig changed(world.topic, world.counted, 6'000, "run-2");
  const auto refused = changed.start();
  CHECK(refused.code() == Code::kInvalid);
  CHECK(refused.status().message().find("total was '5000', it is '6000' now") != std::string::npos);
  CHECK(changed.plan().code() == Code::kInvalid);
  CHECK(changed.job.steps == 0);

  JobRecord other = world.record();
  other.kind = "verify";
  REQUIRE(rig.board.write(job_key("history"), encode_job_record(other)).ok());
  CHECK(Rig(world.topic, world.counted, 5'000, "run-3").start().status().message().find("is a verify") !=
        std::string::npos);
}

TEST_CASE("job runner: the last start wins, and the run before it stops without touching its record") {
  World world;
  Rig first(world.topic, world.counted, 50'000, "run-1");
  Rig second(world.topic, world.counted, 50'000, "run-2");
  bool begun = false;
  first.turn = [&] {
    if (begun || world.counted.counted < 5'000) return;
    begun = true;
    REQUIRE(second.start().ok());
  };
  const auto fenced = first.start();
  CHECK(begun);
  CHECK(fenced.code() == Code::kFenced);
  CHECK(world.record().run == "run-2");
  CHECK(world.record().state == JobState::kDone);
}

TEST_CASE("job runner: a run that has not read its own record yet does not take the one before for another run") {
  World world;
  Rig first(world.topic, world.counted, 5'000, "run-1");
  first.turn = [&] { first.stop = world.counted.counted > 1'000; };
  REQUIRE(first.start().ok());
  Rig second(world.topic, world.counted, 5'000, "run-2");
  second.board.polls_in_vain = 20;
  REQUIRE(second.start().ok());
  CHECK(world.counted.counted == 5'000);
}

TEST_CASE("job runner: of two runs that begin at the same moment the later one goes on, and the other one stops") {
  World world;
  Rig first(world.topic, world.counted, 50'000, "run-1"), second(world.topic, world.counted, 50'000, "run-2");
  Result<JobRecord> first_end = retry("not started");
  // The second has read the board before the first writes to it. It reads that record, and then its own.
  second.board.poll_records = 1;
  second.board.refreshed = [&] {
    first.turn = [&] { first.stop = first.job.steps > 3; };
    first_end = first.start();
  };
  const auto end = second.start();
  INFO(end.status().message());
  CHECK(first_end.ok());
  REQUIRE(end.ok());
  CHECK(end->state == JobState::kDone);
}

TEST_CASE("job runner: a job whose record cannot be read, of a newer version perhaps, is not begun again") {
  World world;
  Rig rig(world.topic, world.counted, 5'000);
  rig.turn = [&] { rig.stop = world.counted.counted > 1'000; };
  REQUIRE(rig.start().ok());
  std::string newer = world.topic.records.back().second;
  newer.replace(newer.find("\"v\":1"), 5, "\"v\":2");
  const bool only = GENERATE(false, true);
  if (only) world.topic.records.clear();  // By compaction: the record of the old version is gone.
  world.topic.records.emplace_back(job_key("history"), newer);
  const size_t records = world.topic.records.size();
  Rig next(world.topic, world.counted, 5'000, "run-2");
  const auto refused = next.start();
  CHECK(refused.code() == Code::kInvalid);
  CHECK(refused.status().message().find("not of version 1") != std::string::npos);
  CHECK(next.plan().code() == Code::kInvalid);
  CHECK(next.job.steps == 0);
  CHECK(world.topic.records.size() == records);
  world.topic.records.emplace_back(job_key("history"), "");  // bloomring jobs remove.
  CHECK(Rig(world.topic, world.counted, 5'000, "run-3").start().ok());
}

TEST_CASE("job runner: a run of a newer version that begins stops this one") {
  World world;
  Rig rig(world.topic, world.counted, 50'000);
  rig.turn = [&] {
    if (world.counted.counted > 5'000) world.topic.records.emplace_back(job_key("history"), R"({"v":2})");
  };
  CHECK(rig.start().code() == Code::kFenced);
}

TEST_CASE("job runner: killed at each of its durable steps, a job resumes to the same end") {
  struct Killed : std::runtime_error {
    Killed() : std::runtime_error("killed") {}
  };
  const std::string point =
      GENERATE(as<std::string>{}, "job.begun", "job.before_save", "job.saved", "job.before_end", "job.ended");
  const int visit = GENERATE(1, 2, 3);
  World world;
  int visits = 0;
  set_fault_handler([&](std::string_view name) {
    if (name == point && ++visits == visit) throw Killed();
  });
  int starts = 0;
  Result<JobRecord> end = retry("not started");
  for (; !end.ok() && starts < 5; ++starts) {
    Rig rig(world.topic, world.counted, 7'000, "run-" + std::to_string(starts));
    try {
      end = rig.start();
    } catch (const Killed&) {
    }
  }
  set_fault_handler({});
  REQUIRE(end.ok());
  CHECK(end->state == JobState::kDone);
  CHECK(world.counted.first_missed == 0);
  CHECK(world.counted.reached == 7'000);
  const bool once = point == "job.begun" || point == "job.before_end" || point == "job.ended";
  if (!once || visit == 1) CHECK(starts > 1);  // It was killed.
}

TEST_CASE("job runner: while no broker takes the position the job goes on, and saves it when they are back") {
  World world;
  Rig rig(world.topic, world.counted, 20'000);
  rig.turn = [&] { rig.board.away = world.counted.counted > 3'000 && world.counted.counted < 15'000; };
  const auto end = rig.start();
  REQUIRE(end.ok());
  CHECK(world.counted.counted == 20'000);
  CHECK(world.record().progress.done == 20'000);
}

TEST_CASE("job runner: a step that may be retried is, until nothing has moved for the bound") {
  World world;
  Rig rig(world.topic, world.counted, 3'000);
  rig.turn = [&] {
    const int64_t at_ms = rig.clock.now_ms() - kNowMs;
    rig.job.failure = at_ms > 1'000 && at_ms < 40'000 ? retry("the source does not answer") : Status();
  };
  REQUIRE(rig.start().ok());
  CHECK(world.counted.counted == 3'000);

  Rig stuck(world.topic, world.counted, 4'000, "run-2");
  stuck.config.name = "stuck";
  stuck.job.failure = retry("the source does not answer");
  CHECK(stuck.start().code() == Code::kRetry);
  CHECK(stuck.seconds() > 59);
  MemoryJobBoard board(world.topic);
  REQUIRE(board.refresh().ok());
  CHECK(board.book().find("stuck")->state == JobState::kFailed);
  CHECK(board.book().find("stuck")->error == "the source does not answer");
}

TEST_CASE("job runner: a job that failed goes on at the next start") {
  World world;
  Rig rig(world.topic, world.counted, 5'000);
  rig.turn = [&] {
    if (world.counted.counted > 2'500) rig.job.failure = fatal("retention has passed the position");
  };
  CHECK(rig.start().code() == Code::kFatal);
  CHECK(world.record().state == JobState::kFailed);
  Rig next(world.topic, world.counted, 5'000, "run-2");
  REQUIRE(next.start().ok());
  CHECK(world.counted.began_at > 2'000);
  CHECK(world.record().error.empty());
}

TEST_CASE("job runner: progress is shown each second with the rate of the last one") {
  World world;
  Rig rig(world.topic, world.counted, 5'000);
  REQUIRE(rig.start().ok());
  REQUIRE(rig.rates.size() >= 4);
  for (const double rate : rig.rates) CHECK(rate == Approx(1'000).margin(110));
}

TEST_CASE("job runner: names that no key or client id could hold are refused") {
  World world;
  for (const char* name : {"", "History", "2026", "a/b", "a b", "-a"}) {
    Rig rig(world.topic, world.counted, 5);
    rig.config.name = name;
    CHECK(rig.start().code() == Code::kInvalid);
    CHECK(rig.plan().code() == Code::kInvalid);
  }
  CHECK(check_job_name(std::string(40, 'a')).ok());
  CHECK_FALSE(check_job_name(std::string(41, 'a')).ok());
  CHECK(world.topic.records.empty());
}
