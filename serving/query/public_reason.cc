#include "serving/query/public_reason.h"

#include <array>
#include <atomic>
#include <bit>

#include "base/log.h"

namespace bloomring {

std::string public_reason(const Status& failure) {
  static std::array<std::atomic<uint64_t>, 16> counts{};
  const uint64_t count = ++counts[static_cast<size_t>(failure.code()) % counts.size()];
  if (std::has_single_bit(count)) {
    log_warning("callers get a short reason for: " + failure.message(),
                {{"code", code_name(failure.code())}, {"so_far", count}});
  }
  switch (failure.code()) {
    case Code::kRetry: return "does not answer now";
    case Code::kCorrupt: return "is damaged";
    default: return "failed; the log of the replica has the reason";
  }
}

}  // namespace bloomring
