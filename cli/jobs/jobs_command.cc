#include <memory>

#include "base/clock.h"
#include "cli/jobs/job_commands.h"
#include "cli/jobs/run_job.h"
#include "cli/output.h"
#include "pipeline/jobs/job_report.h"
#include "pipeline/jobs/kafka_job_board.h"

namespace bloomring::cli {

namespace {

Result<const JobRecord*> find(const KafkaJobBoard& board, const std::string& name) {
  if (const JobRecord* record = board.book().find(name)) return record;
  return invalid("there is no job " + name + "; `bloomring jobs` lists them");
}

Status check_removable(const KafkaJobBoard& board, const std::string& name, int64_t now_ms) {
  if (!board.book().check_readable(name).ok()) return {};  // Nobody can tell whether it runs.
  BLOOMRING_TRY_ASSIGN(const JobRecord* record, find(board, name));
  if (record->state == JobState::kRunning && now_ms - record->updated_ms < kJobSilentMs)
    return invalid("job " + name + " runs: stop it first, with SIGTERM to its process");
  return {};
}

Status remove(KafkaJobBoard& board, const std::string& name, int64_t now_ms) {
  BLOOMRING_TRY(check_removable(board, name, now_ms));
  BLOOMRING_TRY(board.write(rate_key(name), ""));
  return board.write(job_key(name), "");
}

Status act(const JobsArgs& args) {
  BLOOMRING_TRY_ASSIGN(const Settings settings, load_command_settings(args.config));
  BLOOMRING_TRY(check_runnable(settings));
  const SystemClock clock;
  BLOOMRING_TRY_ASSIGN(const auto board, KafkaJobBoard::open({.kafka = job_client_settings(settings, "list"),
                                                              .group_prefix = settings.kafka.group_prefix},
                                                             KafkaJobBoard::Missing::kIsEmpty, clock));
  BLOOMRING_TRY(board->refresh());
  if (args.action == JobsAction::kRate) {
    BLOOMRING_TRY(find(*board, args.name).status());
    BLOOMRING_TRY(board->write(rate_key(args.name), encode_job_rate(args.rate)));
  }
  if (args.action == JobsAction::kRemove) BLOOMRING_TRY(remove(*board, args.name, clock.now_ms()));
  if (args.action != JobsAction::kList) BLOOMRING_TRY(board->refresh());
  const bool text = args.output == OutputFormat::kText;
  print(text ? list_text(board->book(), clock.now_ms()) : list_json(board->book(), clock.now_ms()));
  return {};
}

}  // namespace

int jobs_command(const JobsArgs& args) {
  const Status done = act(args);
  return finish_output(done.ok() ? 0 : report_result(done, args.output == OutputFormat::kJson));
}

}  // namespace bloomring::cli
