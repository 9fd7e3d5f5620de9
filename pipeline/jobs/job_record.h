// The state of a job in its installation: one record of the topic of jobs, replaced as the job goes on.
//
//   key "job/NAME"   value JSON: the record (format below)
//   key "rate/NAME"  value JSON: {"v":1,"rate":2000}, the rate that somebody asked for while the job runs
//
// The record, with every field:
//   {"v":1,"name":"history","kind":"replay","unit":"blocks","rate_unit":"plays","state":"running","run":"a1b2...",
//    "started_ms":1,"updated_ms":2,"rate":5000,"share":1,"slowed_by":"","done":10,"total":100,"error":"",
//    "parameters":[["from","0"]],"counts":[["refused","bad_time",3]],"position":"..."}
// Decoding is strict: kCorrupt, with the reason, for another version, a missing or unknown field, or a value of another
// type. A record holds no user data.
// Threading: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "pipeline/jobs/job.h"

namespace bloomring {

inline constexpr size_t kJobNameBytesMax = 40;  // Client ids hold it, and have at most 64.
inline constexpr size_t kJobParameterBytesMax = 64 << 10;  // Of names and values together.
inline constexpr size_t kJobPositionBytesMax = 512 << 10;
inline constexpr size_t kJobCountsMax = 256;

enum class JobState : uint8_t {
  kRunning,          // Or killed: nobody can tell from the record alone, except by its age.
  kStopped,          // By a signal, or by another run of the same job.
  kFailed,           // See `error`. A start goes on.
  kDone,
  kDoneDifferences,  // Done, and it found something that a person should see.
};
std::string_view job_state_name(JobState state);  // "running", "stopped", "failed", "done", "done_with_differences".
inline bool is_finished(JobState state) { return state == JobState::kDone || state == JobState::kDoneDifferences; }

struct JobRecord {
  std::string name;
  std::string kind;
  std::string unit;       // Of the progress...
  std::string rate_unit;  // ...and of the rate.
  JobState state = JobState::kRunning;
  std::string run;          // Random, of each start.
  int64_t started_ms = 0;   // Unix milliseconds: of the first start...
  int64_t updated_ms = 0;   // ...and of this record.
  double rate = 0;          // Units a second that were asked for.
  double share = 1;         // Of them, as the brake leaves it.
  std::string slowed_by;    // Empty: by nothing.
  JobProgress progress;
  std::string error;        // Of kFailed.
  JobParameters parameters;
  JobCounts counts;
  std::string position;
  bool operator==(const JobRecord&) const = default;
};

// kInvalid unless the name has 1 to 40 lower case letters, digits and dashes, and begins with a letter.
Status check_job_name(std::string_view name);

std::string encode_job_record(const JobRecord& record);
Result<JobRecord> decode_job_record(std::string_view json);
std::string encode_job_rate(double rate);
// A number more than 0.
Result<double> decode_job_rate(std::string_view json);

// "job/NAME", "rate/NAME".
std::string job_key(std::string_view name);
std::string rate_key(std::string_view name);

}  // namespace bloomring
