// The forgets of a history, known before the first play of it is written.
//
// A forget that enters the log long after it happened reaches only to the beginning of its period in filters
// (state/forget_rule.h): plays of that period that are merged before it would stay seen. So a replay first reads
// the forgets from the begin of its range to the end of the log, and does not write the plays that one of them takes
// (docs/decisions/0060-old-history-enters-as-plays.md).
//
// Structure: a sorted list with the latest time of each user and item, 24 bytes an entry.
// Bound: kEntriesMax of different users and items.
// Threading: one thread.
// Errors: kInvalid when there are more.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/event.h"

namespace bloomring {

class HistoryForgets {
 public:
  static constexpr size_t kEntriesMax = 20'000'000;  // 480 MB.

  explicit HistoryForgets(size_t entries_max = kEntriesMax) : entries_max_(entries_max) {}

  // Takes a forget.
  Status note(uint64_t user_hash, const Event& forget);
  // After the last one, before the first question.
  void seal();
  // True when a forget of the item, or of everything, is not before the play.
  bool takes(uint64_t user_hash, const Event& play) const;
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    uint64_t user;
    uint64_t item;  // 0, which may be an item's hash too: `everything` tells.
    int64_t time_ms : 63;
    int64_t everything : 1;
  };
  bool finds(uint64_t user, uint64_t item, bool everything, int64_t time_ms) const;

  const size_t entries_max_;
  std::vector<Entry> entries_;
};

}  // namespace bloomring
