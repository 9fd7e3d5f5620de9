#include <charconv>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/words.h"
#include "cli/jobs/job_commands.h"
#include "cli/jobs/legacy_args.h"
#include "cli/jobs/run_job.h"
#include "pipeline/jobs/job_record.h"
#include "pipeline/jobs/migrate/migrate_job.h"
#include "pipeline/kafka/producer/producer.h"
#include "pipeline/stores/open_legacy.h"
#include "state/period.h"

namespace bloomring::cli {

namespace {

Result<UserShare> parse_share(const std::string& text) {
  UserShare share;
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, share.index);
  if (index.ec == std::errc() && index.ptr != end && *index.ptr == '/') {
    const auto count = std::from_chars(index.ptr + 1, end, share.count);
    if (count.ec == std::errc() && count.ptr == end && share.index < share.count) return share;
  }
  return invalid("--share " + text + ": must be INDEX/COUNT with an index from 0 to COUNT - 1, as 0/4 and 3/4");
}

Result<MigrateConfig> job_config(const MigrateArgs& args, const Settings& settings) {
  MigrateConfig config;
  config.events_topic = settings.topics.name(TopicRole::kUserEvents);
  config.partition_count = settings.topics.partitions;
  config.block_events = settings.ingest.block_events;
  config.page_members = settings.migrate.page_members;
  config.sets_at_once = settings.migrate.users_at_once;
  BLOOMRING_TRY_ASSIGN(config.share, parse_share(args.share));
  config.parameters = legacy_parameters(settings, args.keys);
  config.parameters.push_back({"share", config.share.text()});
  config.parameters.push_back({"topic", config.events_topic});
  // Only where it is on: a job that a version without marks began goes on.
  if (settings.migrate.read_through) {
    config.marks_false_positive_rate = settings.filter.false_positive_rate;
    config.parameters.push_back({"marks", std::to_string(settings.filter.false_positive_rate)});
  }
  config.facts = legacy_facts(settings, legacy_parameters(settings, args.keys));
  config.facts.push_back({"share", config.share.text()});
  return config;
}

Result<int> migrate(const MigrateArgs& args, const Clock& clock) {
  BLOOMRING_TRY_ASSIGN(const Settings settings, load_command_settings(args.config));
  BLOOMRING_TRY(check_runnable(settings));
  BLOOMRING_TRY(check_job_name(args.name));
  BLOOMRING_TRY_ASSIGN(MigrateConfig config, job_config(args, settings));
  BLOOMRING_TRY_ASSIGN(const LegacyStore store, open_legacy(settings));
  BLOOMRING_TRY_ASSIGN(const Calendar calendar, Calendar::create(settings.retention()));
  BLOOMRING_TRY_ASSIGN(FoundFile refused, FoundFile::open(args.execute ? args.refused : ""));
  BLOOMRING_TRY_ASSIGN(const std::unique_ptr<KeySource> keys, open_keys(store, args.keys));
  std::unique_ptr<kafka::Producer> producer;
  std::unique_ptr<Sink> sink;  // Goes before its producer.
  const auto open_sink = [&]() -> Result<Sink*> {
    BLOOMRING_TRY_ASSIGN(producer, kafka::Producer::create(job_client_settings(settings, args.name)));
    BLOOMRING_TRY(producer->verify_topic(config.events_topic, static_cast<int32_t>(config.partition_count)));
    sink = producer->make_sink();
    return sink.get();
  };
  MigrateJob job(config, {store.layout, *store.client, *keys, calendar, refused, open_sink, clock.now_ms()});
  return run_job(args, settings, job, clock);
}

}  // namespace

int migrate_command(const MigrateArgs& args) {
  return job_process(args.output, [&args](const Clock& clock) { return migrate(args, clock); });
}

}  // namespace bloomring::cli
