// How far a drain is: the one record of it, from its start until its slot end is durable or it is abandoned.
// Threading: used by the partition's task.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "operators/view.h"

namespace bloomring {

struct DrainProgress {
  uint64_t id = 0;
  std::unique_ptr<ViewDrain> drain;
  int64_t start_ms = 0;            // Log time of the first pass...
  int64_t spread_ms = 0;           // ...and the time over which the passes are spread.
  std::deque<std::string> outbox;  // Records to be sent.
  size_t unacknowledged = 0;       // Records that were sent.
  bool slot_end_sent = false;

  bool passes_done() const { return drain->passes_done() == drain->passes(); }
  // Every record of the drain is durable: its slot end may be sent.
  bool may_end() const { return passes_done() && outbox.empty() && unacknowledged == 0 && !slot_end_sent; }
};

}  // namespace bloomring
