// Runs a job from its last position to its end: the one way in which all jobs behave.
//
//   plan() asks the job and the board, and changes nothing.
//   run():
//     1. reads the board. Another job of this name, this one with other parameters, or a record that cannot be read:
//        refused. A finished one: its report again, and nothing is done.
//     2. hands the last position to the job, and writes a record of a new run. A run of the same job elsewhere that is
//        still alive sees it and stops: the run whose first record is the last one wins.
//     3. steps the job at the pace; saves its position every few seconds; takes rates that somebody asks for; slows
//        down by the live signals.
//     4. at the end, a failure or a signal: settles the job, saves its last position and state, reports.
//
// Guarantees: a saved position covers only durable work (Job). A kill at any place loses no work and leads to the same
// end at the next start. Saving may fail for as long as brokers are away: the job goes on, and the next save covers it.
// Threading: one thread.
// Errors: those of the job and of the board. kFenced when another run has taken over. A step that returns kRetry is
// repeated for `patience_ms` without any progress; then the job fails, and another start goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "pipeline/jobs/brake.h"
#include "pipeline/jobs/job.h"
#include "pipeline/jobs/job_board.h"
#include "pipeline/jobs/job_record.h"
#include "pipeline/jobs/pace.h"

namespace bloomring {

struct JobRunnerConfig {
  std::string name;
  // Units a second. Nothing: the rate that was asked for last by `bloomring jobs rate`, else `rate_default`.
  std::optional<double> rate = {};
  double rate_default = 5'000;
  std::string run;  // Of this start: random.
  int64_t save_interval_ms = 2'000;
  int64_t show_interval_ms = 1'000;
  int64_t patience_ms = 60'000;
  int64_t settle_ms = 20'000;  // How long a stop waits for work under way.
};

// The functions that a run needs from its caller.
struct JobEnvironment {
  const Clock& clock;
  // Waits for this time; true when the job must stop.
  std::function<bool(int64_t wait_ns)> wait_or_stop;
  // Shows how far it is; `units_per_second` is that of the last interval.
  std::function<void(const JobRecord& record, double units_per_second)> show = {};
  LiveSignals* signals = nullptr;  // Null: nothing slows the job.
};

// The plan with what the board says of an earlier run.
struct JobPreview {
  JobPlan plan;
  double rate = 0;
  std::optional<JobRecord> before;  // The job's record, if it was started before.
};

class JobRunner {
 public:
  // All outlive the runner.
  JobRunner(JobRunnerConfig config, Job& job, JobBoard& board, JobEnvironment environment);

  Result<JobPreview> plan();
  // The last record: of a job that is done, or was stopped. Failures are recorded on the board, too, where it answers.
  Result<JobRecord> run();

 private:
  Status check_same(const JobRecord& before) const;
  double first_rate() const;
  Status begin(const std::optional<JobRecord>& before);
  Result<JobState> work();
  Result<bool> step();
  Status settle();
  void listen();
  void slow();
  void show();
  Status save(JobState state);
  void save_when_due();
  bool another_run_began() const;
  int64_t steady_ms() const { return environment_.clock.steady_ns() / 1'000'000; }

  const JobRunnerConfig config_;
  Job& job_;
  JobBoard& board_;
  const JobEnvironment environment_;
  Pace pace_;
  Brake brake_;
  JobRecord record_;
  std::optional<double> wish_;  // The last one that was taken.
  int64_t save_at_ms_ = 0;
  int64_t show_at_ms_ = 0;
  int64_t progress_at_ms_ = 0;  // When the job last did something.
  uint64_t units_ = 0;          // Taken by this run...
  uint64_t units_shown_ = 0;    // ...and until `shown_at_ms_`.
  int64_t shown_at_ms_ = 0;
  bool saving_fails_ = false;
};

// The exit code of a finished run: 0 done, 3 done with differences, 1 stopped (so that whoever started it starts it
// again).
int exit_code_of(const JobRecord& record);

}  // namespace bloomring
