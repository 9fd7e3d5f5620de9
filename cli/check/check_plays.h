// Reads the newest plays for `bloomring check`, and reports how ingest would treat them.
#pragma once

#include "cli/check/check_report.h"
#include "pipeline/kafka/admin.h"
#include "pipeline/settings/settings.h"

namespace bloomring::cli {

// Reads the newest records of every topic of plays. Skips topics that do not exist. Plays count as checked when each
// topic has some.
void check_plays(kafka::Admin& admin, const Settings& settings, CheckReport& report);

}  // namespace bloomring::cli
