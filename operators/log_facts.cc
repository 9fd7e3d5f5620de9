#include "operators/log_facts.h"

#include <string>

namespace bloomring {

Offset merged_end(const MergedWatermark& watermark) {
  return watermark.ahead.empty() ? watermark.offset : watermark.ahead.back().to;
}

Status check_log_reaches(const MergedWatermark& watermark, Offset log_end) {
  const Offset merged = merged_end(watermark);
  if (merged <= log_end) return {};
  return retry("the filter store says that the log is merged below offset " + std::to_string(merged.value) +
               ", but the log ends at " + std::to_string(log_end.value) +
               ": the topic was made again or cut. Use the topic that the store was filled from; or, to "
               "keep the filters and go on with the new one, stop everything and run `bloomring store new-log`");
}

}  // namespace bloomring
