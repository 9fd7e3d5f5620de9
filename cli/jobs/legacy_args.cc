#include "cli/jobs/legacy_args.h"

#include <utility>

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

Result<std::unique_ptr<KeySource>> open_keys(const LegacyStore& store, const OldKeysArgs& keys) {
  using Source = std::unique_ptr<KeySource>;
  if (!keys.users.empty()) {
    BLOOMRING_TRY_ASSIGN(auto users, ListedUsers::open(keys.users, store.layout));
    return Source(std::move(users));
  }
  if (!keys.keys.empty()) return Source(std::make_unique<ListedKeys>(keys.keys));
  return Source(std::make_unique<ScannedKeys>(*store.client, store.layout.glob()));
}

JobParameters layout_parameters(const Settings& settings) {
  const MigrateSettings& migrate = settings.migrate;
  return {{"migrate.keys", joined(migrate.keys)},
          {"migrate.member", migrate.member},
          {"migrate.score_unit", unit_name(migrate.score_unit)}};
}

JobParameters legacy_parameters(const Settings& settings, const OldKeysArgs& keys) {
  JobParameters parameters = layout_parameters(settings);
  std::string from = keys.keys.empty() ? "scan" : "file " + keys.keys;
  if (!keys.users.empty()) from = "users " + keys.users;
  parameters.insert(parameters.begin(), {"keys", from});
  return parameters;
}

std::vector<JobPlan::Fact> legacy_facts(const Settings& settings, const JobParameters& parameters) {
  std::vector<JobPlan::Fact> facts = {{"old store", joined(settings.migrate.addresses)}};
  for (const JobParameter& parameter : parameters) facts.push_back({parameter.name, parameter.value});
  return facts;
}

}  // namespace bloomring::cli
