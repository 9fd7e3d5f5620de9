#include "operators/merge_start.h"

namespace bloomring {

MergeStart decide_merge_start(const MergeStartFacts& facts) {
  if (!facts.committed) return {facts.log_start, "nothing was committed"};
  if (*facts.committed < facts.log_start) return {facts.log_start, "batches before it were lost unread"};
  if (*facts.committed > facts.log_end) return {facts.log_start, "the log ends before what was committed"};
  return {*facts.committed, {}};
}

}  // namespace bloomring
