// One thing that happened to a (user, item).
//
// A forget works by event times alone: a play, or a serve, counts unless a forget of its item, or of everything, has an
// event time at or after its own. So the log may hold events twice, late and in any order, and old plays may be
// replayed: the answer is the same. docs/decisions/0010-forgetting-by-event-time.md says how forgets are kept.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"

namespace bloomring {

// The numbers are part of the event block's format.
enum class EventKind : uint8_t {
  kPlay = 1,       // The user watched the item.
  kServe = 2,      // The item was shown to the client, perhaps unseen.
  kForget = 3,     // The user deletes one item from the history.
  kForgetAll = 4,  // The user clears the history; the item hash is 0.
};
inline constexpr uint8_t kEventKindMax = 4;
constexpr bool is_forget(EventKind kind) { return kind == EventKind::kForget || kind == EventKind::kForgetAll; }

// The accepted event times: [2000-01-01, 2100-01-01) UTC, in Unix milliseconds.
inline constexpr int64_t kEventTimeMinMs = 946'684'800'000;
inline constexpr int64_t kEventTimeEndMs = 4'102'444'800'000;

struct Event {
  EventKind kind = EventKind::kPlay;
  ItemHash item;
  int64_t time_ms = 0;  // When it happened, by the client's clock: [kEventTimeMinMs, kEventTimeEndMs).
};

constexpr QuarterIndex quarter_of(int64_t time_ms) { return QuarterIndex(time_ms / kQuarterMs); }

}  // namespace bloomring
