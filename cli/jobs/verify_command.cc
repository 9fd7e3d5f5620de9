#include <memory>
#include <utility>

#include "base/clock.h"
#include "cli/jobs/job_commands.h"
#include "cli/jobs/legacy_args.h"
#include "cli/jobs/run_job.h"
#include "client/client.h"
#include "pipeline/jobs/job_record.h"
#include "pipeline/jobs/migrate/verify_job.h"
#include "pipeline/stores/open_legacy.h"
#include "state/period.h"

namespace bloomring::cli {

namespace {

constexpr int64_t kDeadlineMs = 10'000;

VerifyConfig job_config(const VerifyArgs& args, const Settings& settings) {
  VerifyConfig config;
  config.sample = args.sample;
  config.probes = args.probes;
  config.false_positive_rate = settings.filter.false_positive_rate;
  config.settle_ms = static_cast<int64_t>(args.settle_seconds * 1e3);
  config.page_members = settings.migrate.page_members;
  config.sets_at_once = settings.migrate.users_at_once;
  config.parameters = legacy_parameters(settings, args.keys);
  config.parameters.push_back({"sample", std::to_string(args.sample)});
  config.parameters.push_back({"probes", std::to_string(args.probes)});
  config.facts = legacy_facts(settings, legacy_parameters(settings, args.keys));
  config.facts.push_back({"service", args.server});
  config.facts.push_back({"sample", std::to_string(args.sample)});
  return config;
}

Result<int> verify(const VerifyArgs& args, const Clock& clock) {
  BLOOMRING_TRY_ASSIGN(const Settings settings, load_command_settings(args.config));
  BLOOMRING_TRY(check_runnable(settings));
  BLOOMRING_TRY(check_job_name(args.name));
  BLOOMRING_TRY(check(args.tls));
  BLOOMRING_TRY_ASSIGN(const LegacyStore store, open_legacy(settings));
  BLOOMRING_TRY_ASSIGN(const Calendar calendar, Calendar::create(settings.retention()));
  BLOOMRING_TRY_ASSIGN(FoundFile missing, FoundFile::open(args.execute ? args.differences : ""));
  BLOOMRING_TRY_ASSIGN(const std::unique_ptr<KeySource> keys, open_keys(store, args.keys));
  const auto client = Client::connect(
      {.server = args.server, .deadline_ms = kDeadlineMs, .fail_open = false, .tls = args.tls});
  const auto ask = [&](const std::vector<FilterCall>& calls) { return client->filter_batch(calls); };
  VerifyJob job(job_config(args, settings), {store.layout, *store.client, *keys, calendar, missing, ask});
  return run_job(args, settings, job, clock);
}

}  // namespace

int verify_command(const VerifyArgs& args) {
  return job_process(args.output, [&args](const Clock& clock) { return verify(args, clock); });
}

}  // namespace bloomring::cli
