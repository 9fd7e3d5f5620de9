// Whether it is this installation itself that holds a port: for `bloomring check`, which may run beside it.
//
// The admin port is asked for /version. The gRPC port is its own where the process at admin.listen says that it serves
// there; otherwise it is asked itself, as replicas ask each other, and whoever refuses a question as our service does
// is one.
#pragma once

#include "pipeline/settings.h"
#include "pipeline/start_checks.h"

namespace bloomring::cli {

// Outlived by the settings.
OwnHolder own_holder(const Settings& settings);

}  // namespace bloomring::cli
