#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/faults/fault_environment.h"
#include "base/host/private_files.h"
#include "base/host/supervisor.h"
#include "base/log.h"
#include "base/version.h"
#include "base/words.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "pipeline/runtime/signals.h"
#include "pipeline/runtime/stop_bound.h"
#include "pipeline/runtime/worker.h"
#include "pipeline/stages/process.h"

namespace bloomring::cli {

namespace {

constexpr int kWaitMs = 50;

enum class StopPhase { kStart, kStages, kRest };  // The part that ends.

// Runs the start of a process on its own thread, so that the main thread takes signals while the start waits.
class Start {
 public:
  Start(Process& process, const Clock& clock) : process_(process), thread_("start", clock, [](const Status&) {}) {
    thread_.post([this] { run(); });
  }
  // Makes the start give up its wait, and waits until it has ended.
  void end() {
    process_.give_up_start();
    thread_.call([] {});
  }
  // The failure, once it has failed.
  std::optional<Status> failure() const {
    if (!failed_) return std::nullopt;
    return status_;
  }

 private:
  void run() {
    status_ = process_.start();
    failed_ = !status_.ok();
    if (failed_) return;
    for (const std::string& warning : process_.start_warnings()) log_warning(warning, {{"stage", "window"}});
  }

  Process& process_;
  Status status_;  // Other threads read it once failed_ is set.
  std::atomic<bool> failed_{false};
  Worker thread_;
};

void tell_start(const RunArgs& args, const Settings& settings) {
  std::vector<std::string_view> stages;
  for (const StageRow* row : settings.stages) stages.push_back(row->name);
  log_info("bloomring starts", {{"version", version()},
                                {"commit", commit()},
                                {"stages", joined(stages, ",")},
                                {"instance", settings.instance},
                                {"config", args.config.path.empty() ? "environment and defaults" : args.config.path},
                                {"kafka", settings.kafka.bootstrap},
                                {"partitions", settings.topics.partitions},
                                {"admin", settings.admin.listen}});
}

// A supervisor that does not listen is warned of once: the process runs all the same. It is told again at each chance,
// for it ends a process from which it never hears READY=1.
class ToSupervisor {
 public:
  void ready(const Process& process) { warn_once(supervisor_.tell_ready("ready; admin " + process.admin_address())); }
  void stopping() { warn_once(supervisor_.tell_stopping("stopping")); }
  void alive(const Process& process) { warn_once(supervisor_.tell_alive(process.alive(), clock_.steady_ns())); }

 private:
  void warn_once(const Status& told) {
    if (!told.ok() && !warned_) log_warning(told.message());
    warned_ |= !told.ok();
  }

  const SystemClock clock_{};
  Supervisor supervisor_ = Supervisor::of_environment();
  bool warned_ = false;
};

// Runs until a signal or a failure. Prints the ready line as soon as the process is ready.
Status run_until_told(Process& process, const Start& start, ToSupervisor& supervisor) {
  for (bool told = false;;) {
    supervisor.alive(process);
    if (stop_signal_within(kWaitMs)) {
      log_info("stopping; a second signal ends the process at once");
      return {};
    }
    if (const auto failure = start.failure()) return *failure;
    if (const auto failure = process.failure()) return *failure;
    if (told) supervisor.ready(process);
    if (told || !process.ready()) continue;
    print(process.ready_line() + "\n");
    supervisor.ready(process);
    log_info("ready", {{"admin", process.admin_address()}, {"grpc", process.grpc_address()}});
    told = true;
  }
}

// For a start that only waits: it may be in a call of the Kafka client that cannot be interrupted, and nothing is
// open.
[[noreturn]] void end_at_once(const Process& process) {
  const std::string waiting = process.start_waits_for();
  log_info("ended in order, before it began" + (waiting.empty() ? "" : ", waiting for " + waiting));
  std::_Exit(finish_output(0));
}

}  // namespace

int run_command(const RunArgs& args) {
  hold_stop_signals();
  const SystemClock system;
  const auto wrong_clock = faults_of_environment(system);
  if (!wrong_clock.ok()) return report(wrong_clock.status());
  std::string configuration;
  const auto settings = load_command_settings(args.config, SettingsUse::kRunStages, &configuration);
  if (!settings.ok()) return report(settings.status());
  if (!settings->process.core_dumps) forbid_core_dumps();
  tell_start(args, *settings);
  const Clock& clock = *wrong_clock ? **wrong_clock : system;
  auto process = std::make_unique<Process>(*settings, clock);
  process->show_configuration(std::move(configuration));
  Start start(*process, system);
  ToSupervisor supervisor;
  const Status ended = run_until_told(*process, start, supervisor);
  supervisor.stopping();
  if (ended.ok() && !process->has_begun()) end_at_once(*process);
  std::atomic<StopPhase> phase{StopPhase::kStart};
  const StopBound bound(system, int64_t{settings->process.stop_seconds} * 1000, [&phase, running = process.get()] {
    switch (phase) {
      case StopPhase::kStart: return "its start, which waits for " + running->start_waits_for();
      case StopPhase::kStages: return running->busy_with();
      case StopPhase::kRest: break;
    }
    return std::string("the stores and clients to close");
  });
  start.end();
  phase = StopPhase::kStages;
  process->stop(leave_signal_came() ? StopMode::kLeaveGroup : StopMode::kRestart);
  phase = StopPhase::kRest;
  process.reset();
  if (ended.ok()) log_info("ended in order");
  return report(ended);
}

}  // namespace bloomring::cli
