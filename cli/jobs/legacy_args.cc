#include "cli/jobs/legacy_args.h"

#include "base/words.h"

namespace bloomring::cli {

namespace {

std::string unit_name(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds: return "s";
    case TimeUnit::kMilliseconds: return "ms";
    case TimeUnit::kMicroseconds: return "us";
  }
  return "ms";
}

}  // namespace

std::unique_ptr<KeySource> open_keys(const LegacyStore& store, const std::string& file) {
  if (!file.empty()) return std::make_unique<ListedKeys>(file);
  return std::make_unique<ScannedKeys>(*store.client, store.layout.glob());
}

JobParameters legacy_parameters(const Settings& settings, const std::string& file) {
  const MigrateSettings& migrate = settings.migrate;
  return {{"keys", file.empty() ? "scan" : "file " + file},
          {"migrate.keys", joined(migrate.keys)},
          {"migrate.member", migrate.member},
          {"migrate.score_unit", unit_name(migrate.score_unit)}};
}

std::vector<JobPlan::Fact> legacy_facts(const Settings& settings, const std::string& file) {
  std::vector<JobPlan::Fact> facts = {{"old store", joined(settings.migrate.addresses)}};
  for (const JobParameter& parameter : legacy_parameters(settings, file))
    facts.push_back({parameter.name, parameter.value});
  return facts;
}

}  // namespace bloomring::cli
