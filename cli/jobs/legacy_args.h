// What the jobs over the old store of a site have in common: where their keys come from, their parameters, their plan.
// Threading: pure functions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipeline/jobs/job.h"
#include "pipeline/jobs/migrate/key_source.h"
#include "pipeline/settings/settings.h"
#include "pipeline/stores/open_legacy.h"

namespace bloomring::cli {

// `file` has a key a line; empty: all keys of the store, by SCAN. The store outlives it.
std::unique_ptr<KeySource> open_keys(const LegacyStore& store, const std::string& file);

// What makes another job of it: patterns, unit, keys.
JobParameters legacy_parameters(const Settings& settings, const std::string& file);
std::vector<JobPlan::Fact> legacy_facts(const Settings& settings, const std::string& file);

}  // namespace bloomring::cli
