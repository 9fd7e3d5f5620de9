// The common parts of the jobs over the old store of a site: where their keys come from, their parameters, their plan.
// Threading: pure functions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/jobs/job_commands.h"
#include "pipeline/jobs/job.h"
#include "pipeline/jobs/migrate/key_source.h"
#include "pipeline/settings/settings.h"
#include "pipeline/stores/open_legacy.h"

namespace bloomring::cli {

// The store outlives it.
Result<std::unique_ptr<KeySource>> open_keys(const LegacyStore& store, const OldKeysArgs& keys);

// The parameters of such a job: patterns and unit; with the keys in addition, where the job goes through keys.
JobParameters layout_parameters(const Settings& settings);
JobParameters legacy_parameters(const Settings& settings, const OldKeysArgs& keys);
// Where the old store is, and the parameters.
std::vector<JobPlan::Fact> legacy_facts(const Settings& settings, const JobParameters& parameters);

}  // namespace bloomring::cli
