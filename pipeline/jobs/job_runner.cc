#include "pipeline/jobs/job_runner.h"

#include <algorithm>
#include <utility>

#include "base/faults/fault_point.h"
#include "base/log.h"

namespace bloomring {

namespace {

constexpr int64_t kIdleNs = 10'000'000;        // After a step without work.
constexpr int64_t kAfterRetryNs = 500'000'000;
constexpr int kFirstSaves = 20;                // Half a second apart: a start does not fail for a lost leader.

// "from was 2026-10-01, it is 2026-11-01 now".
std::string difference(const JobParameters& before, const JobParameters& now) {
  for (const JobParameter& parameter : now) {
    const auto old = std::ranges::find(before, parameter.name, &JobParameter::name);
    if (old == before.end()) return parameter.name + " was not there, it is '" + parameter.value + "' now";
    if (old->value != parameter.value)
      return parameter.name + " was '" + old->value + "', it is '" + parameter.value + "' now";
  }
  for (const JobParameter& parameter : before) {
    if (std::ranges::find(now, parameter.name, &JobParameter::name) == now.end())
      return parameter.name + " was '" + parameter.value + "', it is not there now";
  }
  return "their order differs";
}

Status check_parameters(const JobParameters& parameters) {
  size_t bytes = 0;
  for (const JobParameter& parameter : parameters) bytes += parameter.name.size() + parameter.value.size();
  if (bytes <= kJobParameterBytesMax) return {};
  return invalid("the parameters of the job have " + std::to_string(bytes) + " bytes; at most " +
                 std::to_string(kJobParameterBytesMax) + " are kept");
}

}  // namespace

JobRunner::JobRunner(JobRunnerConfig config, Job& job, JobBoard& board, JobEnvironment environment)
    : config_(std::move(config)),
      job_(job),
      board_(board),
      environment_(std::move(environment)),
      pace_(config_.rate.value_or(config_.rate_default)) {}

Status JobRunner::check_same(const JobRecord& before) const {
  const std::string whose = "job " + config_.name;
  if (before.kind != job_.kind()) {
    return invalid(whose + " is a " + before.kind + "; take another --name for a " + std::string(job_.kind()));
  }
  if (before.parameters == job_.parameters()) return {};
  return invalid(whose + " was started with other parameters: " + difference(before.parameters, job_.parameters()) +
                 ". Start it with the same ones to go on, take another --name for another job, or remove the old one "
                 "with `bloomring jobs remove " + config_.name + "`");
}

double JobRunner::first_rate() const {
  if (config_.rate) return *config_.rate;
  return board_.book().wished_rate(config_.name).value_or(config_.rate_default);
}

Result<JobPreview> JobRunner::plan() {
  BLOOMRING_TRY(check_job_name(config_.name));
  BLOOMRING_TRY(check_parameters(job_.parameters()));
  BLOOMRING_TRY(board_.refresh());
  BLOOMRING_TRY(board_.book().check_readable(config_.name));
  JobPreview preview;
  preview.rate = first_rate();
  if (const JobRecord* before = board_.book().find(config_.name)) {
    BLOOMRING_TRY(check_same(*before));
    preview.before = *before;
  }
  BLOOMRING_TRY_ASSIGN(preview.plan, job_.plan());
  return preview;
}

Result<JobRecord> JobRunner::run() {
  BLOOMRING_TRY(check_job_name(config_.name));
  BLOOMRING_TRY(check_parameters(job_.parameters()));
  BLOOMRING_TRY(board_.refresh());
  BLOOMRING_TRY(board_.book().check_readable(config_.name));
  std::optional<JobRecord> before;
  if (const JobRecord* found = board_.book().find(config_.name)) before = *found;
  if (before) BLOOMRING_TRY(check_same(*before));
  if (before && is_finished(before->state)) return *before;
  wish_ = board_.book().wished_rate(config_.name);
  pace_.set_rate(first_rate());
  BLOOMRING_TRY(begin(before));
  Result<JobState> end = work();
  if (!end.ok() && end.code() != Code::kFenced) {
    record_.error = end.status().message();
    if (const Status saved = save(JobState::kFailed); !saved.ok())
      log_warning("the failure of the job could not be recorded", {{"reason", saved.message()}});
  }
  BLOOMRING_TRY(end.status());
  fault_point("job.before_end");
  // The end must be recorded: otherwise the next start would do the rest again.
  Status saved = save(*end);
  for (int i = 0; i < kFirstSaves && saved.code() == Code::kRetry; ++i) {
    if (environment_.wait_or_stop(kAfterRetryNs)) break;
    saved = save(*end);
  }
  BLOOMRING_TRY(std::move(saved).with_context("the end of the job could not be recorded; start it again"));
  fault_point("job.ended");
  return record_;
}

Status JobRunner::begin(const std::optional<JobRecord>& before) {
  JobStart start;
  record_ = JobRecord();
  record_.name = config_.name;
  record_.started_ms = environment_.clock.now_ms();
  if (before) {
    start = {before->position, before->counts};
    record_.started_ms = before->started_ms;
  }
  record_.kind = job_.kind();
  record_.unit = job_.unit();
  record_.rate_unit = job_.rate_unit();
  record_.run = config_.run;
  record_.parameters = job_.parameters();
  BLOOMRING_TRY(job_.begin(start));
  const Status saved = save(JobState::kRunning);
  fault_point("job.begun");
  progress_at_ms_ = shown_at_ms_ = steady_ms();
  save_at_ms_ = progress_at_ms_ + config_.save_interval_ms;
  show_at_ms_ = progress_at_ms_ + config_.show_interval_ms;
  return saved;
}

Result<JobState> JobRunner::work() {
  int64_t wait_ns = 0;
  while (!environment_.wait_or_stop(wait_ns)) {
    listen();
    if (another_run_began()) {
      return fenced("another run of job " + config_.name + " has begun, and this one has stopped; `bloomring jobs` "
                    "shows how far it is");
    }
    slow();
    const uint64_t units_before = units_;
    Result<bool> done = step();
    if (done.code() == Code::kRetry && steady_ms() - progress_at_ms_ < config_.patience_ms) {
      wait_ns = kAfterRetryNs;
      continue;
    }
    BLOOMRING_TRY(done.status());
    if (*done) return job_.differences() ? JobState::kDoneDifferences : JobState::kDone;
    show();
    save_when_due();
    wait_ns = units_ == units_before ? kIdleNs : 0;
  }
  BLOOMRING_TRY(settle());
  return JobState::kStopped;
}

// True when the job is done.
Result<bool> JobRunner::step() {
  const uint64_t units = pace_.allowed(environment_.clock.steady_ns());
  const uint64_t done_before = job_.progress().done;
  BLOOMRING_TRY_ASSIGN(const JobStep step, job_.step(units, environment_.clock.now_ms()));
  pace_.spend(step.units);
  units_ += step.units;
  if (step.units > 0 || job_.progress().done != done_before || units == 0) progress_at_ms_ = steady_ms();
  return step.done;
}

// The next start does again whatever is still under way after the bound.
Status JobRunner::settle() {
  const int64_t until_ms = steady_ms() + config_.settle_ms;
  while (steady_ms() < until_ms) {
    const Result<bool> settled = job_.settle(environment_.clock.now_ms());
    if (settled.ok() && *settled) return {};
    if (!settled.ok() && settled.code() != Code::kRetry) return settled.status();
    environment_.wait_or_stop(kIdleNs);
  }
  log_warning("the job stops with work under way, which the next start does again", {{"job", config_.name}});
  return {};
}

void JobRunner::listen() {
  if (const Status heard = board_.poll(); !heard.ok()) return;  // Saving says so.
  const auto wish = board_.book().wished_rate(config_.name);
  if (!wish || wish == wish_) return;
  wish_ = wish;
  log_info("the rate of the job was changed", {{"job", config_.name}, {"rate", *wish}, {"before", pace_.rate()}});
  pace_.set_rate(*wish);
}

// By the order of the first records of runs: of two that start at the same moment one goes on. A record that cannot be
// read came after the start, which refuses one: it is of a run of another version.
bool JobRunner::another_run_began() const {
  const JobBook& book = board_.book();
  if (!book.has_begun(config_.name, config_.run)) return false;  // Its own first record was not read yet.
  return book.last_run(config_.name) != config_.run || !book.check_readable(config_.name).ok();
}

void JobRunner::slow() {
  if (environment_.signals == nullptr) return;
  LivePressure pressure = environment_.signals->look();
  brake_.note(pressure.pressure, steady_ms());
  pace_.set_share(brake_.share());
  const bool eased = brake_.share() >= 1;
  if (pressure.pressure != Pressure::kNone && record_.slowed_by.empty()) {
    log_warning("the job slows down", {{"job", config_.name}, {"reason", pressure.reason}});
  } else if (eased && !record_.slowed_by.empty()) {
    log_info("the job works at its full rate again", {{"job", config_.name}});
  }
  if (pressure.pressure != Pressure::kNone) record_.slowed_by = std::move(pressure.reason);
  if (eased) record_.slowed_by.clear();
}

void JobRunner::show() {
  const int64_t now_ms = steady_ms();
  if (now_ms < show_at_ms_ || !environment_.show) return;
  show_at_ms_ = now_ms + config_.show_interval_ms;
  const double seconds = static_cast<double>(std::max<int64_t>(now_ms - shown_at_ms_, 1)) / 1e3;
  const auto units = static_cast<double>(units_ - std::exchange(units_shown_, units_));
  shown_at_ms_ = now_ms;
  record_.progress = job_.progress();
  record_.rate = pace_.rate();
  record_.share = pace_.share();
  environment_.show(record_, units / seconds);
}

Status JobRunner::save(JobState state) {
  record_.state = state;
  record_.updated_ms = environment_.clock.now_ms();
  record_.rate = pace_.rate();
  record_.share = pace_.share();
  record_.progress = job_.progress();
  record_.counts = job_.counts();
  record_.position = job_.position();
  BLOOMRING_CHECK(record_.position.size() <= kJobPositionBytesMax, "the position of a job is too long");
  BLOOMRING_CHECK(record_.counts.size() <= kJobCountsMax, "a job has too many counts");
  fault_point("job.before_save");
  BLOOMRING_TRY(board_.write(job_key(config_.name), encode_job_record(record_)));
  fault_point("job.saved");
  return {};
}

void JobRunner::save_when_due() {
  if (steady_ms() < save_at_ms_) return;
  const Status saved = save(JobState::kRunning);
  save_at_ms_ = steady_ms() + config_.save_interval_ms;
  if (!saved.ok() && !saving_fails_)
    log_warning("the position of the job could not be saved; it is tried again", {{"reason", saved.message()}});
  if (saved.ok() && saving_fails_) log_info("the position of the job is saved again", {{"job", config_.name}});
  saving_fails_ = !saved.ok();
}

int exit_code_of(const JobRecord& record) {
  switch (record.state) {
    case JobState::kDone: return 0;
    case JobState::kDoneDifferences: return 3;
    case JobState::kRunning:
    case JobState::kStopped:
    case JobState::kFailed: return 1;
  }
  return 1;
}

}  // namespace bloomring
