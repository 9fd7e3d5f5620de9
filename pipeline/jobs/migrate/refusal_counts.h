// The refusals of a job over the old store, by their reasons, as the counts of its report: "refused", "wrong_type", 3.
// Threading: a value.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "pipeline/jobs/job.h"
#include "schemas/legacy/legacy_layout.h"

namespace bloomring {

class RefusalCounts {
 public:
  void add(LegacyRefusal refusal) { ++counts_[static_cast<size_t>(refusal)]; }
  uint64_t of(LegacyRefusal refusal) const { return counts_[static_cast<size_t>(refusal)]; }
  bool any() const;
  // Those that are not 0.
  void append_to(JobCounts& counts) const;
  static RefusalCounts of_report(const JobCounts& counts);

 private:
  std::array<uint64_t, kLegacyRefusalCount> counts_{};  // That of kNone stays 0.
};

// 0 where the report has no such count.
uint64_t count_of(const JobCounts& counts, std::string_view name, std::string_view reason = {});

}  // namespace bloomring
