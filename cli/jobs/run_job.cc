#include "cli/jobs/run_job.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "base/faults/fault_environment.h"
#include "base/keyed_sum.h"
#include "base/log.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "pipeline/jobs/admin_signals.h"
#include "pipeline/jobs/job_report.h"
#include "pipeline/jobs/job_runner.h"
#include "pipeline/jobs/kafka_job_board.h"
#include "pipeline/runtime/signals.h"
#include "pipeline/settings/client_settings.h"

namespace bloomring::cli {

namespace {

constexpr int64_t kShowOnTerminalMs = 1'000;
constexpr int64_t kShowInLogMs = 10'000;

std::string random_run() {
  const SumKey random = random_sum_key();
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(random.low));
  return text;
}

// The rate of the last interval tells how long the rest takes.
void show(ProgressLine& line, const JobRecord& record, double per_second, double done_per_second) {
  const auto left = seconds_left(record.progress, done_per_second);
  line.show({{"done", record.progress.done},
             {"total", record.progress.total},
             {"a_second", std::llround(per_second)},
             {"percent_of_the_rate", std::llround(record.share * 100)},
             {"seconds_left", left ? std::to_string(*left) : "?"}});
}

Result<std::unique_ptr<AdminSignals>> open_signals(const JobArgs& args, const Settings& settings, const Clock& clock) {
  if (args.unwatched) return std::unique_ptr<AdminSignals>();
  auto signals = std::make_unique<AdminSignals>(
      args.watch.empty() ? std::vector<std::string>{settings.admin.listen} : args.watch, clock);
  BLOOMRING_TRY(signals->check());
  return signals;
}

}  // namespace

kafka::ClientSettings job_client_settings(const Settings& settings, const std::string& name) {
  kafka::ClientSettings client = client_settings(settings);
  client.client_id = "bloomring-job-" + name;
  client.queue_memory_bytes = size_t{128} << 20;
  client.send_memory_bytes = size_t{64} << 20;
  return client;
}

int job_process(OutputFormat output, const std::function<Result<int>(const Clock& clock)>& command) {
  hold_stop_signals();
  const SystemClock system;
  const auto wrong_clock = faults_of_environment(system);
  if (!wrong_clock.ok()) return report(wrong_clock.status());
  const Clock& clock = *wrong_clock ? **wrong_clock : static_cast<const Clock&>(system);
  const Result<int> code = command(clock);
  return finish_output(code.ok() ? *code : report_result(code.status(), output == OutputFormat::kJson));
}

Result<int> run_job(const JobArgs& args, const Settings& settings, Job& job, const Clock& clock) {
  std::unique_ptr<AdminSignals> signals;
  if (args.execute) {
    BLOOMRING_TRY_ASSIGN(signals, open_signals(args, settings, clock));
  }
  using Missing = KafkaJobBoard::Missing;
  BLOOMRING_TRY_ASSIGN(const auto board, KafkaJobBoard::open({.kafka = job_client_settings(settings, args.name),
                                                              .group_prefix = settings.kafka.group_prefix,
                                                              .replication = settings.topics.replication},
                                                             args.execute ? Missing::kIsMade : Missing::kIsEmpty,
                                                             clock));
  const bool text = args.output == OutputFormat::kText;
  JobRunnerConfig config;
  config.name = args.name;
  config.rate = args.rate;
  config.run = random_run();
  config.show_interval_ms = isatty(STDERR_FILENO) != 0 ? kShowOnTerminalMs : kShowInLogMs;
  ProgressLine line(job.kind());
  std::optional<uint64_t> done_before;  // What earlier runs did says nothing of this one's speed.
  int64_t shown_ns = clock.steady_ns();
  const auto show_record = [&](const JobRecord& record, double per_second) {
    const int64_t now_ns = clock.steady_ns();
    const double seconds = static_cast<double>(now_ns - std::exchange(shown_ns, now_ns)) / 1e9;
    const uint64_t done = record.progress.done, before = std::exchange(done_before, done).value_or(done);
    show(line, record, per_second, seconds > 0 ? static_cast<double>(done - std::min(before, done)) / seconds : 0);
  };
  JobRunner runner(config, job, *board, {clock, stop_signal_within_ns, show_record, signals.get()});
  if (!args.execute) {
    BLOOMRING_TRY_ASSIGN(const JobPreview preview, runner.plan());
    print(text ? plan_text(args.name, job, preview) : plan_json(args.name, job, preview));
    return 0;
  }
  BLOOMRING_TRY_ASSIGN(const JobRecord record, runner.run());
  if (record.run != config.run)
    log_warning("the job was done before, and nothing was done now", {{"job", args.name}});
  if (record.state == JobState::kStopped)
    log_warning("the job was stopped before its end; start it again to go on", {{"job", args.name}});
  print(text ? report_text(record) : report_json(record));
  return exit_code_of(record);
}

}  // namespace bloomring::cli
