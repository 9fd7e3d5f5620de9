// The commands of jobs, as functions of their arguments: `bloomring replay` and `bloomring jobs`.
//
// Exit codes as in cli/commands.h; a job that was stopped returns 1, so that whoever started it starts it again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace bloomring::cli {

// The arguments that all jobs have.
struct JobArgs {
  ConfigArgs config;
  std::string name;            // Of the job.
  bool execute = false;        // false: only show the plan.
  std::optional<double> rate;  // Units a second.
  std::vector<std::string> watch;  // Admin ports; empty: admin.listen.
  bool unwatched = false;          // No live signals.
  OutputFormat output = OutputFormat::kJson;
};

enum class ReplayForm : uint8_t { kJson, kBlocks };

struct ReplayArgs : JobArgs {
  std::string topics;         // Comma-separated; empty: the topics of the form in the source's configuration.
  std::string from, until;    // As pipeline/jobs/replay/replay_range.h reads them.
  std::string source_config;  // File; empty: `config`.
  ReplayForm form = ReplayForm::kJson;
};
int replay_command(const ReplayArgs& args);

enum class JobsAction : uint8_t { kList, kRate, kRemove };

struct JobsArgs {
  ConfigArgs config;
  JobsAction action = JobsAction::kList;
  std::string name;  // For rate and remove.
  double rate = 0;   // For rate.
  OutputFormat output = OutputFormat::kJson;
};
int jobs_command(const JobsArgs& args);

}  // namespace bloomring::cli
