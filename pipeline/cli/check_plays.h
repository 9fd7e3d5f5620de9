// What ingest would make of the newest plays, for `bloomring check`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pipeline/cli/check_report.h"
#include "pipeline/kafka/admin.h"
#include "pipeline/newest_plays.h"
#include "pipeline/settings.h"

namespace bloomring::cli {

// Findings about the plays of one topic, as lines (base/finding.h).
struct PlaysVerdict {
  std::vector<std::string> errors;    // None of them would be accepted.
  std::vector<std::string> warnings;  // Some would not, or they are probably not what the mapping takes them for.
};
PlaysVerdict judge_plays(const std::string& topic, std::span<const NewestPlay> plays, const EventSettings& events,
                         int64_t now_ms);

// Reads the newest records of every topic of plays. A topic that does not exist, or is empty, is none of its business.
void check_plays(kafka::Admin& admin, const Settings& settings, CheckReport& report);

}  // namespace bloomring::cli
