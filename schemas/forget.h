// One forget: a user's wish that the plays up to a time no longer count, of one item or of everything. The window stage
// drains it, the merge stage keeps its effect (schemas/forgotten.h), and replicas hold it until it is merged.
// state/forget_rule.h says when a forget is late, how far it reaches, and what counts.
// Threading: a value.
#pragma once

#include <compare>
#include <cstdint>

#include "base/ids.h"

namespace bloomring {

struct Forget {
  bool everything = false;  // Otherwise one item.
  bool late = false;        // Plays after it may be in hours before its own (state/forget_rule.h).
  ItemHash item;            // 0 for everything.
  int64_t time_ms = 0;      // Event time: plays up to it are forgotten.
  Offset offset;            // Of its record in user-events.
  auto operator<=>(const Forget&) const = default;

  bool same_target(const Forget& other) const { return everything == other.everything && item == other.item; }
};

// A play or a serve counts when it happened after what is forgotten; 0: nothing is.
constexpr bool counts_after(int64_t time_ms, int64_t forgotten_ms) { return time_ms > forgotten_ms; }

}  // namespace bloomring
