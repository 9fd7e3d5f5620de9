// All data that a Filter call tests candidates against, as one blob, so that a caller can test candidates itself.
//
// The encoder leaves out forgotten plays, except single items in filters: a snapshot lists these with the newest period
// whose filter does not count for the item; older ones do not count either. docs/formats.md has the grammar
// ("Snapshot").
//
// Errors: kCorrupt with the reason for any bytes that the encoder would not have written.
// Threading: values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/borrow.h"
#include "base/ids.h"
#include "base/result.h"

namespace bloomring {

// Borrows: the maker keeps the bytes that the views point into (of a decoded snapshot, the blob), unchanged and in
// place, for as long as it is used.
struct Snapshot {
  struct Filter {
    uint64_t period = 0;  // Index into `periods`.
    std::string_view store_key;
    std::string_view value;
  };
  struct Recent {
    ItemHash item;
    uint64_t period = 0;
  };

  struct Forgotten {
    ItemHash item;
    uint64_t period = 0;  // Filters of this period and of older ones do not count for the item.
  };

  bool complete = false;
  std::string_view user_key;
  int64_t made_at_ms = 0;
  std::vector<std::string_view> periods;  // "2026-11", newest first; at most 64.
  std::vector<Filter> filters;
  std::vector<Recent> recents;
  std::vector<ItemHash> served;
  std::vector<Forgotten> forgotten;  // Ascending by item.
};

inline constexpr uint8_t kSnapshotKind = 0xE5;
inline constexpr uint8_t kSnapshotVersion = 2;  // Version 1 had no forgets.

std::string encode_snapshot(const Snapshot& snapshot);
// The views point into `bytes`.
Result<Snapshot> decode_snapshot(std::string_view bytes BLOOMRING_LIFETIMEBOUND);
template <OwningTemporary Bytes>
Result<Snapshot> decode_snapshot(Bytes&& bytes) = delete;

}  // namespace bloomring
