// All jobs of an installation, as the records of the topic of jobs say: the fold of that topic, in the order of its
// offsets. The last record of a key counts; an empty value removes it.
//
// Records that cannot be read do not stop the others: they are counted, and the previous record of the key stays.
// Threading: a value used by one thread.
#pragma once

#include <cstdint>
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
  uint64_t unreadable() const { return unreadable_; }
  const std::string& first_unreadable() const { return first_unreadable_; }

 private:
  void refuse(std::string_view key, const Status& status);

  std::map<std::string, JobRecord, std::less<>> jobs_;
  std::map<std::string, double, std::less<>> rates_;
  uint64_t unreadable_ = 0;
  std::string first_unreadable_;
};

}  // namespace bloomring
