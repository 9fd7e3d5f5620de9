// Reads the newest plays for `bloomring check`, and says what ingest would make of them.
#pragma once

#include "cli/check/check_report.h"
#include "pipeline/kafka/admin.h"
#include "pipeline/settings/settings.h"

namespace bloomring::cli {

// Reads the newest records of every topic of plays. A topic that does not exist is none of its business. Plays count as
// checked where each topic has some.
void check_plays(kafka::Admin& admin, const Settings& settings, CheckReport& report);

}  // namespace bloomring::cli
