// Everything that a Filter call would test against, as one blob, for testing candidates in the caller.
//
//   snapshot = kind:u8 version:u8 complete:u8 user_key:bytes made_at_ms:varint
//              varint { period:bytes }                               names of the window, newest first
//              varint { period:varint store_key:bytes value:bytes }  filters; index of the period, ascending
//              varint { item:u64 period:varint }                     recent plays
//              varint { item:u64 }                                   the last served
//              sum:u32
//
// Decoding is strict: kCorrupt with the reason for anything that the encoder would not have written.
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace bloomring {

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

  bool complete = false;
  std::string_view user_key;
  int64_t made_at_ms = 0;
  std::vector<std::string_view> periods;  // "2026-11", newest first; at most 64.
  std::vector<Filter> filters;
  std::vector<Recent> recents;
  std::vector<ItemHash> served;
};

inline constexpr uint8_t kSnapshotKind = 0xE5;
inline constexpr uint8_t kSnapshotVersion = 1;

std::string encode_snapshot(const Snapshot& snapshot);
// The views point into `bytes`.
Result<Snapshot> decode_snapshot(std::string_view bytes);

}  // namespace bloomring
