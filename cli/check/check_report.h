// What `bloomring check` has found, as it prints it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/check/plays_verdict.h"
#include "cli/commands.h"
#include "pipeline/settings/memory_plan.h"
#include "pipeline/settings/start_checks.h"

namespace bloomring::cli {

struct CheckReport {
  std::string file;                  // The configuration; empty when none was named.
  std::vector<std::string> checked;  // What was looked at and is fine: "configuration", "brokers", "topics", ...
  std::vector<std::string> warnings;
  std::vector<PlaysRead> plays;      // Of each topic of plays that could be read.
  std::optional<MemoryPlan> memory;  // Where the configuration is fine.

  // Takes the failure in, if it is one: each line of its message is a finding, once. True when there is none.
  bool succeeds(const Status& status);
  // The same of one part, which then counts as checked.
  bool passes(const std::string& part, const Status& status);
  // The same of what was found on this machine, with its warnings.
  void takes(const std::string& part, const StartFindings& found);
  // All failures: kInvalid when one of them is.
  Status status() const { return errors_; }

 private:
  Status errors_;
};

// Writes it to standard output, the errors also to standard error. The exit code: 0 without errors, 2 when something is
// set up wrongly, 1 when the rest only could not be asked.
int print(const CheckReport& report, OutputFormat output);

}  // namespace bloomring::cli
