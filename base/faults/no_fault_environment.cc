// For builds without fault points.
#include <cstdlib>
#include <string>

#include "base/faults/fault_environment.h"

namespace bloomring {

Result<std::unique_ptr<const Clock>> faults_of_environment(const Clock&) {
  for (const char* variable : {"BLOOMRING_FAULT_POINT", "BLOOMRING_CLOCK_STEP"}) {
    if (std::getenv(variable) == nullptr) continue;
    return invalid(std::string(variable) +
                   " is set, and this build cannot inject faults; unset it, or start a build with fault points "
                   "(cmake --preset tested)");
  }
  return std::unique_ptr<const Clock>();
}

}  // namespace bloomring
