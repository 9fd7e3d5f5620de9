#include "tests/simulation/sim_replay.h"

#include "tests/simulation/sim_world.h"

namespace bloomring::simulation {

Status SimReplay::start(const IngestTaskConfig& ingest) {
  ReplayJobConfig config;
  config.topics = {"plays"};
  config.ingest = ingest;
  BLOOMRING_TRY_ASSIGN(job_, ReplayJob::create(config, source_, std::make_unique<SimSink>(log_), calendar_, clock_));
  return job_->begin({saved_, {}});
}

Result<bool> SimReplay::step(uint64_t units, int64_t now_ms, bool saves) {
  BLOOMRING_TRY_ASSIGN(const JobStep step, job_->step(units, now_ms));
  if (saves) saved_ = job_->position();
  return step.done;
}

// While it lasts it competes with ingest for the log, and what it writes goes through everything that plays go through.
void World::step_replay() {
  if (!replays_) return;
  if (!replay_) {
    if (!faults_ || !one_in(random_, 150)) return;
    replay_ = std::make_unique<SimReplay>(log_, kPlaysPartitions, calendar_, clock_);
  }
  bool done = false;
  const bool survived = survives([&]() -> Result<bool> {
    if (!replay_->runs()) {
      IngestTaskConfig config;
      config.ingest = settings_of_start().ingest;
      config.ingest.partition_count = kPartitions;
      config.records_per_step = 64;
      config.in_flight_max = 16;
      config.lane_in_flight_max = 4;
      config.clock_skew_max_ms = 3 * kClocksOffMaxMs;
      BLOOMRING_TRY(replay_->start(config));
    }
    BLOOMRING_TRY_ASSIGN(done, replay_->step(random_() % 100, ingest_clock_.now_ms(), one_in(random_, 3)));
    return true;
  });
  if (!survived || (faults_ && one_in(random_, 100))) {
    replay_->crash();
    ++tally_.replays_crashed;
  } else if (done) {
    replay_.reset();
    ++tally_.replays;
  }
}

}  // namespace bloomring::simulation
