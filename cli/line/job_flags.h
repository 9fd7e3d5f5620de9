// The commands of jobs, and the flags that all jobs have.
// Threading: as CLI11: one thread.
#pragma once

#include "cli/jobs/job_commands.h"
#include "cli/line/flags.h"

namespace bloomring::cli {

// --name, --execute, --rate, --watch, --unwatched, --output and those of the configuration. `units` are what the rate
// counts.
void add_job_flags(CLI::App& command, JobArgs& args, const std::string& units);

struct JobCommandArgs {
  ReplayArgs replay;
  MigrateArgs migrate;
  ExportArgs export_to;
  VerifyArgs verify;
  JobsArgs jobs;
};
void declare_jobs(CLI::App& app, JobCommandArgs& args, Chosen& chosen);

}  // namespace bloomring::cli
