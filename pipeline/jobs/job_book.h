// All jobs of an installation, as the records of the topic of jobs say: the fold of that topic, in the order of its
// offsets. The last record of a key counts; an empty value removes it.
//
// Records that cannot be read do not stop the others: they are counted, and the previous record of the key stays. A job
// whose last record cannot be read, of a newer version perhaps, is known as such: it must not be begun again.
// Threading: a value used by one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/jobs/job_record.h"

namespace bloomring {

class JobBook {
 public:
  void apply(std::string_view key, std::string_view value);

  // By name.
  const std::map<std::string, JobRecord, std::less<>>& jobs() const { return jobs_; }
  // Null when there is none.
  const JobRecord* find(std::string_view name) const;
  // The rate that somebody asked for, of this job.
  std::optional<double> wished_rate(std::string_view name) const;
  // kInvalid, with the reason, when the last record of this job cannot be read.
  Status check_readable(std::string_view name) const;
  // The run of this job that began last. Records of runs that began before it may follow its own.
  std::string_view last_run(std::string_view name) const;
  bool has_begun(std::string_view name, std::string_view run) const;
  uint64_t unreadable() const { return unreadable_; }
  const std::string& first_unreadable() const { return first_unreadable_; }

 private:
  static constexpr size_t kRunsMax = 64;  // Kept of a job, the last ones.

  void refuse(std::string_view key, const Status& status);
  void refuse_job(const std::string& name, std::string_view key, const Status& status);
  void note_run(const std::string& name, const std::string& run);

  std::map<std::string, JobRecord, std::less<>> jobs_;
  std::map<std::string, std::string, std::less<>> unreadable_jobs_;       // By name: the reason.
  std::map<std::string, std::deque<std::string>, std::less<>> runs_;  // By name, in the order of their first records.
  std::map<std::string, double, std::less<>> rates_;
  uint64_t unreadable_ = 0;
  std::string first_unreadable_;
};

}  // namespace bloomring
