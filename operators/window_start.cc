#include "operators/window_start.h"

#include <algorithm>

namespace bloomring {

namespace {

std::string text(Offset offset) { return std::to_string(offset.value); }

bool usable(const WindowState& local, const WindowStartFacts& facts, Offset merged) {
  const Offset base = local.hours.empty() ? local.applied : local.hours.front().range.from;
  return base <= merged && local.applied >= merged && local.applied >= facts.log_start && local.applied <= facts.log_end;
}

}  // namespace

Result<WindowStart> decide_window_start(const WindowStartFacts& facts) {
  const Offset merged = facts.watermark ? facts.watermark->offset : Offset(0);
  if (merged > facts.log_end) {
    return fatal("the filter store says that user-events is merged below offset " + text(merged) + ", but the log ends at " +
                 text(facts.log_end) + ": the topic was made anew or cut. Use the topic that the store was filled from, or "
                 "start with an empty filter store and new topics");
  }
  if (facts.local && usable(*facts.local, facts, merged)) {
    return WindowStart{true, facts.local->applied, Offset(0), "continues at its applied offset " + text(facts.local->applied)};
  }
  // Without any watermark nothing was ever promised, so the log's start is where the history starts.
  const bool lost = facts.watermark && merged < facts.log_start;
  if (lost && !facts.accept_lost_events) {
    return fatal(std::to_string(facts.log_start.value - merged.value) + " records of user-events from offset " + text(merged) +
                 " are not merged and no longer in the log, which starts at " + text(facts.log_start) +
                 ": retention is too short for the outage. Restore a newer filter store, or set state.accept_lost_events to go on without them");
  }
  const Offset read_from = std::max(merged, facts.log_start);
  const std::string why = facts.local ? "local state does not continue the filter store: wiped, reads from offset " : "no local state: reads from offset ";
  return WindowStart{false, read_from, merged, why + text(read_from)};
}

}  // namespace bloomring
