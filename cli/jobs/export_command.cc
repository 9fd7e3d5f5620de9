#include <memory>
#include <utility>

#include "base/clock.h"
#include "cli/jobs/job_commands.h"
#include "cli/jobs/legacy_args.h"
#include "cli/jobs/run_job.h"
#include "pipeline/jobs/export/export_job.h"
#include "pipeline/jobs/job_record.h"
#include "pipeline/jobs/replay/kafka_replay_log.h"
#include "pipeline/stores/open_legacy.h"

namespace bloomring::cli {

namespace {

constexpr uint64_t kSecondsOfHour = 3'600;

ExportConfig job_config(const ExportArgs& args, const Settings& settings) {
  const MigrateSettings& old = settings.migrate;
  ExportConfig config;
  config.brokers = settings.kafka.bootstrap;
  config.topics = args.topics.empty() ? settings.topics.plays() : args.topics;
  config.from = args.from;
  config.until = args.until;
  config.mapping = settings.events.mapping();
  config.bounds = {old.export_members_max, old.export_ttl_hours * kSecondsOfHour};
  config.parameters = layout_parameters(settings);
  config.parameters.push_back({"migrate.export_members_max", std::to_string(old.export_members_max)});
  config.parameters.push_back({"migrate.export_ttl_hours", std::to_string(old.export_ttl_hours)});
  config.facts = legacy_facts(settings, config.parameters);
  return config;
}

Result<int> export_plays(const ExportArgs& args, const Clock& clock) {
  BLOOMRING_TRY_ASSIGN(const Settings settings, load_command_settings(args.config));
  BLOOMRING_TRY(check_runnable(settings));
  BLOOMRING_TRY(check_job_name(args.name));
  BLOOMRING_TRY_ASSIGN(const LegacyStore store, open_legacy(settings));
  BLOOMRING_TRY_ASSIGN(FoundFile refused, FoundFile::open(args.execute ? args.refused : ""));
  KafkaReplayLog log(job_client_settings(settings, args.name), clock);
  // Goes before the log, whose sources it has.
  BLOOMRING_TRY_ASSIGN(const auto job,
                       ExportJob::create(job_config(args, settings), {store.layout, *store.client, log, refused}));
  return run_job(args, settings, *job, clock);
}

}  // namespace

int export_command(const ExportArgs& args) {
  return job_process(args.output, [&args](const Clock& clock) { return export_plays(args, clock); });
}

}  // namespace bloomring::cli
