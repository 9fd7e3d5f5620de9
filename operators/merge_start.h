// Where the merge stage starts to read a partition of user-batches: a pure decision from facts.
//
//   the group's commit      decision
//   none                    read from the start of the log
//   within the log          read from there
//   before the log's start  read from the start of the log: batches were lost unread, and are drained again
//   beyond the log's end    read from the start of the log: it was cut or created again, or a broker that was
//                           frozen answers with its older log for a moment
//
// No row loses a play: a slot end counts only together with all of its batches (operators/filters/merge.h), the window
// stage drains unmerged slots again, and uniting a record twice changes nothing.
#pragma once

#include <optional>
#include <string_view>

#include "base/ids.h"

namespace bloomring {

struct MergeStartFacts {
  std::optional<Offset> committed;  // The group's; or nothing.
  Offset log_start;                 // First offset that the log still has.
  Offset log_end;                   // Offset of the next record to be written; not before `log_start`.
};

struct MergeStart {
  Offset read_from;         // Within [log_start, log_end].
  std::string_view reason;  // For the log; empty where it starts at the commit. Static.
};

MergeStart decide_merge_start(const MergeStartFacts& facts);

}  // namespace bloomring
