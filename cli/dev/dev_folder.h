// The folder of `bloomring dev --data`: a filter store and the state of the window stage.
//
// The topics of the embedded broker end with their process, so each start begins a new log: the positions of an earlier
// start say nothing about it. The filters are good for any log, and stay
// (docs/decisions/0031-a-new-log-ends-the-old-one.md). Plays that were not merged are lost with the broker.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "pipeline/settings/settings.h"

namespace bloomring {

// Makes the folder ready for a new log: marks one without a store as dev's own; in one that was marked, begins a new
// log in the store, converts its hours to the slot length of `settings`, and removes the window stage's state.
// Guarantees: a store that dev did not make is not changed: its log is on real brokers.
// Threading: one thread, before the stages start.
// Errors: kInvalid when the store is not dev's or another process writes it, kFatal when files cannot be written. After
// an error or a crash, another call completes it.
Status begin_log_in(const std::string& folder, const Settings& settings, const Clock& clock);

}  // namespace bloomring
