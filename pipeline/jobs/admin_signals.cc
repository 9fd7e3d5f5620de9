#include "pipeline/jobs/admin_signals.h"

#include "pipeline/admin/admin_client.h"

namespace bloomring {

AdminSignals::AdminSignals(const std::vector<std::string>& addresses, const Clock& clock) : clock_(clock) {
  for (const std::string& address : addresses) processes_.push_back({address});
}

Status AdminSignals::ask(Process& process) {
  const int64_t now_ms = clock_.steady_ns() / 1'000'000;
  BLOOMRING_TRY_ASSIGN(const std::string status, get_admin_page(process.address, "/status"));
  BLOOMRING_TRY_ASSIGN(const std::string metrics, get_admin_page(process.address, "/metrics"));
  BLOOMRING_TRY_ASSIGN(ProcessSigns signs, read_signs(status, metrics));
  const double seconds = static_cast<double>(now_ms - process.asked_ms) / 1e3;
  process.pressure = pressure_of(signs, process.signs, seconds);
  if (!process.pressure.reason.empty()) process.pressure.reason += " (" + process.address + ")";
  process.signs = std::move(signs);
  process.asked_ms = now_ms;
  return {};
}

Status AdminSignals::check() {
  for (Process& process : processes_) {
    const Status asked = ask(process);
    if (asked.ok()) continue;
    return invalid("--watch: the process at " + process.address + " does not answer: " + asked.message() +
                   "; name the admin ports of the processes that must not be late, or --unwatched to go without");
  }
  return {};
}

LivePressure AdminSignals::look() {
  LivePressure worst;
  for (Process& process : processes_) {
    const int64_t now_ms = clock_.steady_ns() / 1'000'000;
    if (now_ms >= process.ask_at_ms) {
      const Status asked = ask(process);
      process.ask_at_ms = clock_.steady_ns() / 1'000'000 + (asked.ok() ? kAskMs : kAskMuteMs);
      if (!asked.ok()) {
        process.signs.reset();
        process.pressure = {Pressure::kHigh, "the process at " + process.address + " does not answer"};
      }
    }
    worst.add(process.pressure.pressure, process.pressure.reason);
  }
  return worst;
}

}  // namespace bloomring
