#include "pipeline/jobs/migrate/refusal_counts.h"

#include <algorithm>
#include <string>

namespace bloomring {

namespace {
constexpr const char* kName = "refused";
}  // namespace

bool RefusalCounts::any() const {
  return std::ranges::any_of(counts_, [](uint64_t count) { return count > 0; });
}

void RefusalCounts::append_to(JobCounts& counts) const {
  for (size_t i = 0; i < kLegacyRefusalCount; ++i) {
    if (counts_[i] == 0) continue;
    counts.push_back({kName, std::string(legacy_refusal_name(static_cast<LegacyRefusal>(i))), counts_[i]});
  }
}

RefusalCounts RefusalCounts::of_report(const JobCounts& counts) {
  RefusalCounts found;
  for (size_t i = 0; i < kLegacyRefusalCount; ++i)
    found.counts_[i] = count_of(counts, kName, legacy_refusal_name(static_cast<LegacyRefusal>(i)));
  return found;
}

uint64_t count_of(const JobCounts& counts, std::string_view name, std::string_view reason) {
  const auto found = std::ranges::find_if(
      counts, [&](const JobCount& count) { return count.name == name && count.reason == reason; });
  return found == counts.end() ? 0 : found->value;
}

}  // namespace bloomring
