// Tells `bloomring check` if a process of this installation holds a port, so that a check while the installation runs
// does not report the installation's own ports.
//
// It asks the admin port for /version. The gRPC port belongs to the installation when that page names it. Otherwise it
// sends the port a question that our service refuses. A port that refuses it in the same way counts as ours.
#pragma once

#include "pipeline/settings/settings.h"
#include "pipeline/settings/start_checks.h"

namespace bloomring::cli {

// `settings` outlive it. When no broker answers at kafka.bootstrap, that key may be wrong: a process with another one
// then counts as ours when its group prefix is the same.
OwnHolder own_holder(const Settings& settings, bool brokers_answer);

}  // namespace bloomring::cli
