// A replay of the topics of plays, from their begin to their end, as somebody would start it in the simulated world.
// When it crashes, another process goes on at the position that was saved last.
#pragma once

#include <memory>
#include <string>

#include "pipeline/jobs/replay/replay_job.h"
#include "tests/simulation/sim_log.h"
#include "tests/simulation/sim_replay_log.h"

namespace bloomring::simulation {

class SimReplay {
 public:
  // `log`, `calendar` and `clock` outlive it.
  SimReplay(SimLog& log, int32_t plays_partitions, const Calendar& calendar, const Clock& clock)
      : log_(log), source_(log, {{"plays", plays_partitions}}), calendar_(calendar), clock_(clock) {}

  bool runs() const { return job_ != nullptr; }
  // Starts a process with these settings, at the saved position.
  Status start(const IngestTaskConfig& ingest);
  void crash() { job_.reset(); }
  // True when it is done. `saves`: the position is saved after the step.
  Result<bool> step(uint64_t units, int64_t now_ms, bool saves);

 private:
  SimLog& log_;
  SimReplayLog source_;
  const Calendar& calendar_;
  const Clock& clock_;
  std::unique_ptr<ReplayJob> job_;
  std::string saved_;
};

}  // namespace bloomring::simulation
