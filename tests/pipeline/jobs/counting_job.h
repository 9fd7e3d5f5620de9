// A job that counts to a number: units of work go under way, and are durable one step later.
#pragma once

#include <algorithm>
#include <string>

#include "pipeline/jobs/job.h"

namespace bloomring {

// The units that a job has done. They stand outside the job, and so outlive a killed one.
struct CountedWorld {
  uint64_t reached = 0;       // The furthest number that was counted durably.
  uint64_t counted = 0;       // Numbers counted in all, repeats included.
  uint64_t began_at = 0;      // Of the last start.
  uint64_t first_missed = 0;  // A number that a position covered and nobody counted; 0: none.
};

class CountingJob final : public Job {
 public:
  CountingJob(CountedWorld& world, uint64_t numbers) : total(numbers), world_(world) {}

  std::string_view kind() const override { return "count"; }
  std::string_view unit() const override { return "numbers"; }
  std::string_view rate_unit() const override { return "numbers"; }
  JobParameters parameters() const override { return {{"total", std::to_string(total)}}; }
  Result<JobPlan> plan() override {
    JobPlan plan;
    plan.total = total;
    plan.touches = {"counts in memory"};
    return plan;
  }
  Status begin(const JobStart& start) override {
    durable_ = taken_ = start.position.empty() ? 0 : std::stoull(start.position);
    world_.began_at = durable_;
    if (durable_ > world_.reached && world_.first_missed == 0) world_.first_missed = world_.reached + 1;
    for (const JobCount& count : start.counts) counted_ = count.value;
    return {};
  }
  Result<JobStep> step(uint64_t units_max, int64_t) override {
    ++steps;
    if (!failure.ok()) return failure;
    finish_under_way();
    const uint64_t units = std::min(units_max, total - taken_);
    taken_ += units;
    units_most = std::max(units_most, units);
    return JobStep{units, durable_ == total};
  }
  Result<bool> settle(int64_t) override {
    ++settles;
    finish_under_way();
    return true;
  }
  std::string position() const override { return std::to_string(durable_); }
  JobProgress progress() const override { return {durable_, total}; }
  JobCounts counts() const override { return {{"counted", "", counted_}}; }
  bool differences() const override { return differs; }

  uint64_t total;
  bool differs = false;
  Status failure;  // FAULT: of each step.
  int steps = 0, settles = 0;
  uint64_t units_most = 0;  // Of one step.

 private:
  void finish_under_way() {
    world_.counted += taken_ - durable_;
    counted_ += taken_ - durable_;
    world_.reached = std::max(world_.reached, taken_);
    durable_ = taken_;
  }

  CountedWorld& world_;
  uint64_t taken_ = 0, durable_ = 0;
  uint64_t counted_ = 0;
};

}  // namespace bloomring
