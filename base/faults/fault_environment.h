// The faults that the environment asks of a process: tests of whole processes inject them so.
//
//   BLOOMRING_FAULT_POINT=NAME[:VISIT][=ACTION],...         what happens at fault points: base/faults/fault_point.h
//   BLOOMRING_CLOCK_STEP=STEP_MS:AFTER_MS[:FOR_MS]          how wrong the wall time is: base/faults/stepped_clock.h
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/result.h"

namespace bloomring {

// Arms the fault points. Returns the clock of this process when it shall be wrong, else null; it reads `clock`, which
// outlives it. Called once, at the start of the program, before other threads start.
// Errors: kInvalid when a variable cannot be read. A build without fault points returns kInvalid when one is set: a run
// that is meant to suffer must not pass because it did not.
Result<std::unique_ptr<const Clock>> faults_of_environment(const Clock& clock);

}  // namespace bloomring
