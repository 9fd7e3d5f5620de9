// The findings of `bloomring check`, and their printing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/check/plays_finding.h"
#include "cli/commands.h"
#include "pipeline/settings/memory_plan.h"
#include "pipeline/settings/start_checks.h"

namespace bloomring::cli {

struct CheckReport {
  std::string file;                  // The configuration file; empty when none was named.
  std::vector<std::string> checked;  // Parts without errors: "configuration", "brokers", "topics", ...
  std::vector<std::string> warnings;
  std::vector<std::string> notes;    // Comparisons that could not be made, and why; no faults.
  std::vector<PlaysRead> plays;      // Of each topic of plays that could be read.
  std::vector<SettingSource> sources;  // Of settings that may be found on this host.
  std::optional<MemoryPlan> memory;  // If the configuration is valid.

  // Adds a failure: each line of its message becomes one finding, without repeats. True for success.
  bool succeeds(const Status& status);
  // The same for one part, which counts as checked on success.
  bool passes(const std::string& part, const Status& status);
  // The same for findings on this machine, with their warnings.
  void takes(const std::string& part, const StartFindings& found);
  // All failures: kInvalid when one of them is.
  Status status() const { return errors_; }

 private:
  Status errors_;
};

// Writes the report to standard output, and the errors also to standard error. Returns the exit code: 0 without
// errors, 2 when the set-up has errors, 1 when only something could not be asked.
int print(const CheckReport& report, OutputFormat output);

}  // namespace bloomring::cli
