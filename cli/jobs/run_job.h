// Shows the plan of a job, or runs it: what the commands of all jobs do once they have made their job.
//
// Threading: the main thread, which holds the stop signals.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "cli/jobs/job_commands.h"
#include "pipeline/jobs/job.h"
#include "pipeline/kafka/settings.h"
#include "pipeline/settings/settings.h"

namespace bloomring::cli {

// Of a job's Kafka clients: a name of their own at the brokers.
kafka::ClientSettings job_client_settings(const Settings& settings, const std::string& name);

// The whole of a job's command: holds the stop signals, takes the faults that tests inject, runs `command` with the
// clock of the process, and shows its failure. Returns the exit code.
int job_process(OutputFormat output, const std::function<Result<int>(const Clock& clock)>& command);

// Prints the plan or the report, and returns the exit code.
Result<int> run_job(const JobArgs& args, const Settings& settings, Job& job, const Clock& clock);

}  // namespace bloomring::cli
