#include <algorithm>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "cli/jobs/job_commands.h"
#include "cli/jobs/run_job.h"
#include "pipeline/jobs/job_record.h"
#include "pipeline/jobs/replay/kafka_replay_log.h"
#include "pipeline/jobs/replay/replay_job.h"
#include "pipeline/jobs/replay/replay_scenes.h"
#include "pipeline/kafka/producer/producer.h"
#include "pipeline/settings/keys/load_settings.h"
#include "pipeline/stages/ingest_stage.h"
#include "pipeline/stages/topology.h"
#include "state/period.h"

namespace bloomring::cli {

namespace {

// Of the installation whose log is read. Its file alone counts: the environment is that of the living one.
Result<Settings> source_settings(const ReplayArgs& args, const Settings& living) {
  if (args.source_config.empty()) return living;
  auto loaded = load_settings(ConfigSources{.path = args.source_config}, topology(), nullptr, std::nullopt);
  BLOOMRING_TRY(loaded.status().with_context("--source-config " + args.source_config));
  BLOOMRING_TRY(check_runnable(loaded->settings).with_context("--source-config " + args.source_config));
  return std::move(loaded->settings);
}

std::vector<std::string> topics_of(const ReplayArgs& args, const Settings& source) {
  if (args.topics.empty()) {
    if (args.form == ReplayForm::kBlocks) return {source.topics.name(TopicRole::kUserEvents)};
    return source.topics.plays();
  }
  std::vector<std::string> topics;
  for (size_t at = 0; at <= args.topics.size();) {
    const size_t end = std::min(args.topics.find(',', at), args.topics.size());
    topics.push_back(args.topics.substr(at, end - at));
    at = end + 1;
  }
  return topics;
}

ReplayScenes scenes_of(const Settings& settings) { return {!settings.events.scene.empty(), settings.events.scenes}; }

ReplayJobConfig job_config(const ReplayArgs& args, const Settings& living, const Settings& source) {
  ReplayJobConfig config;
  config.brokers = source.kafka.bootstrap;
  config.topics = topics_of(args, source);
  config.from = args.from;
  config.until = args.until;
  config.ingest = ingest_task_config(living);
  config.ingest.ingest.mapping = source.events.mapping();
  config.ingest.ingest.mapping.scenes = mapped_scenes(scenes_of(source), scenes_of(living));
  if (args.form == ReplayForm::kBlocks) config.ingest.form = IngestTaskConfig::Form::kBlocks;
  config.ingest.block_partitions = source.topics.partitions;
  return config;
}

Result<int> replay(const ReplayArgs& args, const Clock& clock) {
  BLOOMRING_TRY_ASSIGN(const Settings living, load_command_settings(args.config));
  BLOOMRING_TRY(check_runnable(living));
  BLOOMRING_TRY(check_job_name(args.name));
  BLOOMRING_TRY_ASSIGN(const Settings source, source_settings(args, living));
  BLOOMRING_TRY(check_replay_scenes(scenes_of(source), scenes_of(living), args.form == ReplayForm::kBlocks));
  BLOOMRING_TRY_ASSIGN(const Calendar calendar, Calendar::create(living.retention()));
  KafkaReplayLog log(job_client_settings(source, args.name), clock);
  std::unique_ptr<kafka::Producer> producer;
  std::unique_ptr<Sink> sink;
  const ReplayJobConfig config = job_config(args, living, source);
  if (args.execute) {
    BLOOMRING_TRY_ASSIGN(producer, kafka::Producer::create(job_client_settings(living, args.name)));
    const auto partitions = static_cast<int32_t>(living.topics.partitions);
    BLOOMRING_TRY(producer->verify_topic(config.ingest.events_topic, partitions));
    BLOOMRING_TRY(producer->verify_topic(config.ingest.dead_topic, 0));
    sink = producer->make_sink();
  }
  // Goes before the log and the producer, whose sources and sink it has.
  BLOOMRING_TRY_ASSIGN(const auto job, ReplayJob::create(config, log, std::move(sink), calendar, clock));
  return run_job(args, living, *job, clock);
}

}  // namespace

int replay_command(const ReplayArgs& args) {
  return job_process(args.output, [&args](const Clock& clock) { return replay(args, clock); });
}

}  // namespace bloomring::cli
