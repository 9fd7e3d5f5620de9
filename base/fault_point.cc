#include "base/fault_point.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace bloomring {

namespace internal {
std::atomic<bool> fault_points_armed{false};
}

namespace {

constexpr int kKilledExitCode = 137;  // What a shell reports after kill -9.

std::function<void(std::string_view)>& handler() {
  static std::function<void(std::string_view)> installed;
  return installed;
}

// Ends the process at the `countdown`-th visit of `name`.
void arm_exit(std::string name, int countdown) {
  auto left = std::make_shared<std::atomic<int>>(countdown);  // Shared by the copies of the handler.
  set_fault_handler([name = std::move(name), left](std::string_view reached) {
    if (reached != name || left->fetch_sub(1) != 1) return;
    std::fprintf(stderr, "fault point %s reached: ending the process\n", name.c_str());
    ::_exit(kKilledExitCode);
  });
}

}  // namespace

void internal::fault_point_reached(std::string_view name) {
  if (handler()) handler()(name);
}

void set_fault_handler(std::function<void(std::string_view)> installed) {
  const bool armed = static_cast<bool>(installed);
  handler() = std::move(installed);
  internal::fault_points_armed = armed;
}

void arm_fault_points_from_environment() {
  const char* wanted = std::getenv("BLOOMRING_FAULT_POINT");
  if (wanted == nullptr || *wanted == '\0') return;
  const std::string text(wanted);
  const size_t colon = text.find(':');
  const int countdown = colon == std::string::npos ? 1 : std::atoi(text.c_str() + colon + 1);
  arm_exit(text.substr(0, colon), countdown);
}

}  // namespace bloomring
