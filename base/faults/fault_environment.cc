#include "base/faults/fault_environment.h"

#include <cstdlib>

#include "base/faults/fault_point.h"
#include "base/faults/stepped_clock.h"

namespace bloomring {

Result<std::unique_ptr<const Clock>> faults_of_environment(const Clock& clock) {
  if (const char* points = std::getenv("BLOOMRING_FAULT_POINT")) BLOOMRING_TRY(arm_fault_points(points));
  const char* step = std::getenv("BLOOMRING_CLOCK_STEP");
  if (step == nullptr) return std::unique_ptr<const Clock>();
  return SteppedClock::make(clock, step);
}

}  // namespace bloomring
