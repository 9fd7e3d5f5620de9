// Plans, records and lists of jobs as people and scripts read them.
//
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/jobs/job_book.h"
#include "pipeline/jobs/job_record.h"
#include "pipeline/jobs/job_runner.h"

namespace bloomring {

// A job that runs saves its record every two seconds. One that is older than this was probably killed.
inline constexpr int64_t kJobSilentMs = 30'000;

// One object on one line.
std::string plan_json(const std::string& name, const Job& job, const JobPreview& preview);
std::string report_json(const JobRecord& record);
// {"jobs":[...],"unreadable":0}
std::string list_json(const JobBook& book, int64_t now_ms);

// For people, with a line break at the end.
std::string plan_text(const std::string& name, const Job& job, const JobPreview& preview);
std::string report_text(const JobRecord& record);
std::string list_text(const JobBook& book, int64_t now_ms);

// How long the rest takes when so much is done in a second; nothing where nobody can tell: when the total is not known
// or was a guess that proved too low, and while nothing gets done.
std::optional<int64_t> seconds_left(const JobProgress& progress, double done_per_second);

}  // namespace bloomring
