#include "cli/dlq/replay_letters.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/words.h"
#include "cli/dlq/selection_of.h"
#include "cli/jobs/run_job.h"
#include "pipeline/jobs/job_record.h"
#include "pipeline/jobs/letters/kafka_letter_world.h"
#include "pipeline/jobs/letters/letter_replay.h"

namespace bloomring::cli {

namespace {

// Of the topics of ours, only stages write to them.
Status check_target(const std::string& to, const TopicNames& names) {
  for (const TopicRow& row : names.rows()) {
    const auto& own = names.all(row.role);
    if (row.owner != TopicOwner::kUs || std::ranges::find(own, to) == own.end()) continue;
    return invalid("--to " + to + " is the topic of " + std::string(row.key) +
                   ", which stages alone write; name a topic of plays, or leave --to out: then each letter goes to the "
                   "topic that it came from");
  }
  return {};
}

// As they were typed: a time before now is the same parameter at a later start.
JobParameters parameters_of(const DlqArgs& args, const std::string& dead_topic) {
  std::vector<std::string> reasons = args.reasons;
  std::ranges::sort(reasons);
  return {{"dead-letters", dead_topic},
          {"reason", joined(reasons, ",")},
          {"since", args.since},
          {"until", args.until},
          {"topic", args.topic},
          {"partition", args.partition < 0 ? "" : std::to_string(args.partition)},
          {"to", args.to},
          {"attempts", std::to_string(args.attempts)}};
}

}  // namespace

Result<int> replay_letters(const DlqArgs& args, const Settings& settings) {
  const SystemClock clock;
  BLOOMRING_TRY(check_runnable(settings));
  BLOOMRING_TRY(check_job_name(args.name));
  BLOOMRING_TRY(check_target(args.to, settings.topics.names));
  LetterReplayConfig config;
  config.dead_topic = settings.topics.name(TopicRole::kDeadLetters);
  BLOOMRING_TRY_ASSIGN(config.selection, selection_of(args, clock.now_ms()));
  config.rules = {.mapping = settings.events.mapping(),
                  .plays = settings.topics.plays(),
                  .to = args.to,
                  .attempts_max = args.attempts};
  config.parameters = parameters_of(args, config.dead_topic);
  BLOOMRING_TRY_ASSIGN(const auto world,
                       KafkaLetterWorld::create(job_client_settings(settings, args.name), config.dead_topic,
                                                settings.events.record_bytes_max, clock));
  LetterReplay job(std::move(config), *world, clock);
  return run_job(args, settings, job, clock);
}

}  // namespace bloomring::cli
