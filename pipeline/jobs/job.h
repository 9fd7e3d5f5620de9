// A job: bounded, paced, resumable work on an installation, next to its stages. Replay, migration and verification are
// jobs.
//
// A job knows its work. JobRunner (job_runner.h) knows everything that all jobs have in common: the plan, the pace, the
// durable position, progress, signals, the report. So a new job implements this interface and nothing else
// (docs/architecture.md, "How to add a job").
//
//   plan                                            without --execute: asks, changes nothing
//   begin(position) -> step, step, ... -> done      with it
//                       |
//                       +-> settle, settle, ... -> true     at a stop
//
// Guarantees that each job gives:
//   - `position` covers only work whose effects are durable. The runner may save it at any time between two calls.
//   - Work is repeated after the last saved position when the process was killed: repeating must change nothing.
//   - `begin` with a position, in another process, leads to the same end as going on would have.
// Threading: one thread.
// Errors: kRetry from `step` or `settle`: something outside passes, call again. kInvalid, kFatal: the job fails; a
// later start goes on from the last saved position.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bloomring {

// The parameters of a job: a later start with others is refused. Rate and addresses are none of them.
struct JobParameter {
  std::string name;  // As the flag without dashes: "from".
  std::string value;
  bool operator==(const JobParameter&) const = default;
};
using JobParameters = std::vector<JobParameter>;  // At most kJobParameterBytesMax in all (job_record.h).

// A number of the report: "refused", "bad_time", 17.
struct JobCount {
  std::string name;
  std::string reason;  // Empty where the name says it all.
  uint64_t value = 0;
  bool operator==(const JobCount&) const = default;
};
using JobCounts = std::vector<JobCount>;

struct JobProgress {
  uint64_t done = 0;
  uint64_t total = 0;  // 0: not known.
  bool operator==(const JobProgress&) const = default;
};

// The plan of a job, for a person who decides whether it shall.
struct JobPlan {
  uint64_t total = 0;  // Of progress; 0: not known.
  struct Fact {
    std::string name;
    std::string text;
  };
  std::vector<Fact> facts;            // "topic": "plays, 12 partitions".
  std::vector<std::string> touches;   // What the job changes, a sentence each.
  std::vector<std::string> warnings;  // A sentence each.
};

struct JobStep {
  uint64_t units = 0;  // Taken by this step; they count against the rate. May exceed `units_max` by one piece of work.
  bool done = false;   // Everything is done and durable.
};

// Where a job begins: all empty at its first start.
struct JobStart {
  std::string position;  // As `Job::position` gave it.
  JobCounts counts;      // As `Job::counts` gave them with it.
};

class Job {
 public:
  virtual ~Job() = default;

  virtual std::string_view kind() const = 0;  // "replay"; the command's name.
  virtual std::string_view unit() const = 0;       // Of progress, in the plural: "blocks".
  virtual std::string_view rate_unit() const = 0;  // Of the rate and of `units_max`: "plays".
  virtual JobParameters parameters() const = 0;

  // Asks what there is to do. Changes nothing, anywhere.
  virtual Result<JobPlan> plan() = 0;

  // Called once, before the first step.
  virtual Status begin(const JobStart& start) = 0;
  // Does one bounded piece of work, and waits for at most a tenth of a second. Called also with 0 units: then the job
  // takes nothing new, and looks after what is under way.
  virtual Result<JobStep> step(uint64_t units_max, int64_t now_ms) = 0;
  // Takes nothing new. True once all work that was taken is durable and `position` covers it.
  virtual Result<bool> settle(int64_t now_ms) = 0;

  // At most kJobPositionBytesMax bytes of UTF-8, of the job's own making.
  virtual std::string position() const = 0;
  virtual JobProgress progress() const = 0;
  // Since the first start. Work that was repeated after a kill may be counted twice.
  virtual JobCounts counts() const = 0;
  // True when the job has found something that a person should see: the end is then "done, with differences".
  virtual bool differences() const = 0;
};

}  // namespace bloomring
