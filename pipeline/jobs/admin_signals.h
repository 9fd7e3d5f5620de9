// Live signals from the admin ports of running processes, asked once a second.
//
// A process that does not answer counts as high pressure: nobody knows how it is. It is asked again every five seconds,
// so that a job with a dead process in its list goes on, slowly.
// Threading: one thread, which waits for at most five seconds where a process does not answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "pipeline/jobs/brake.h"
#include "pipeline/jobs/live_pressure.h"

namespace bloomring {

class AdminSignals final : public LiveSignals {
 public:
  static constexpr int64_t kAskMs = 1'000;
  static constexpr int64_t kAskMuteMs = 5'000;

  // HOST:PORT each. `clock` outlives the signals.
  AdminSignals(const std::vector<std::string>& addresses, const Clock& clock);

  // Asks all processes. kInvalid, naming the first, unless each answers.
  Status check();
  LivePressure look() override;

 private:
  struct Process {
    std::string address;
    int64_t ask_at_ms = 0;
    int64_t asked_ms = 0;  // When `signs` were read.
    std::optional<ProcessSigns> signs = {};
    LivePressure pressure = {};
  };
  Status ask(Process& process);

  const Clock& clock_;
  std::vector<Process> processes_;
};

}  // namespace bloomring
