#include <spdlog/spdlog.h>

#include <atomic>

#include "base/clock.h"
#include "base/fault_point.h"
#include "pipeline/cli/commands.h"
#include "pipeline/cli/output.h"
#include "pipeline/process.h"
#include "pipeline/signals.h"
#include "pipeline/stop_bound.h"
#include "pipeline/topic_check.h"

namespace bloomring::cli {

namespace {

constexpr int kWaitMs = 50;

// Until a signal or a failure. Prints the ready line as soon as it is true.
Status run_until_told(Process& process) {
  for (bool told = false;;) {
    if (stop_signal_within(kWaitMs)) {
      spdlog::info("stopping; a second signal ends the process at once");
      return {};
    }
    if (const auto failure = process.failure()) return *failure;
    if (told || !process.ready()) continue;
    print(process.ready_line() + "\n");
    told = true;
  }
}

}  // namespace

int run_command(const RunArgs& args) {
  hold_stop_signals();
  if (const Status armed = arm_fault_points_from_environment(); !armed.ok()) return report(armed);
  const auto settings = load_command_settings(args.config);
  if (!settings.ok()) return report(settings.status());
  const SystemClock system;
  const std::unique_ptr<SteppedClock> stepped = SteppedClock::from_environment(system);
  auto process = Process::start(*settings, stepped ? static_cast<const Clock&>(*stepped) : system);
  if (!process.ok()) return report(process.status());
  if (settings->runs(Stage::kWindow)) {
    for (const std::string& warning : retention_warnings(*settings)) spdlog::warn(warning);
  }
  const Status ended = run_until_told(**process);
  std::atomic<bool> stopped{false};
  const StopBound bound(system, int64_t{settings->process.stop_seconds} * 1000, [&stopped, running = process->get()] {
    return stopped ? "the stores and clients to close" : running->busy_with();
  });
  (*process)->stop(leave_signal_came() ? Going::kLeaves : Going::kComesBack);
  stopped = true;
  process->reset();
  return report(ended);
}

}  // namespace bloomring::cli
