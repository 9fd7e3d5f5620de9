// A slot end as a window stage writes it that has sent these batches, under the key of zeros of tests.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "schemas/user_batch.h"

namespace bloomring::testing {

inline SlotEnd slot_end_of(const DrainHeader& header, std::vector<DrainedHour> hours,
                           const std::vector<std::string>& batches) {
  const std::set<std::string> different(batches.begin(), batches.end());
  SlotEnd end{header, std::move(hours), different.size(), different.size(), different.size()};
  for (const std::string& batch : different) end.digest += record_digest(batch);
  end.keyed_sum = slot_end_sum(end, SumKey{});
  return end;
}

inline std::string sealed_slot_end(const DrainHeader& header, std::vector<DrainedHour> hours,
                                   const std::vector<std::string>& batches) {
  return encode_slot_end(slot_end_of(header, std::move(hours), batches));
}

}  // namespace bloomring::testing
