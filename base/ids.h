// Strong types for the integers and strings that must not be mixed up. See the glossary in docs/glossary.md.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/borrow.h"

namespace bloomring {

// An integer with a name. Explicit in and out; ordered; no arithmetic except on `value`.
template <typename Tag, typename Int>
struct StrongInt {
  Int value{};
  constexpr StrongInt() = default;
  constexpr explicit StrongInt(Int v) : value(v) {}
  constexpr auto operator<=>(const StrongInt&) const = default;
};

// hash(user key) mod kShardCount: [0, 5000).
using ShardId = StrongInt<struct ShardIdTag, uint16_t>;
// Index of a partition of user-events and user-batches: [0, P).
using PartitionId = StrongInt<struct PartitionIdTag, int32_t>;
// Offset of a record in a Kafka partition. "Next" offsets are half-open ends.
using Offset = StrongInt<struct OffsetTag, int64_t>;
// Offsets [from, to) of one partition.
struct OffsetRange {
  Offset from;
  Offset to;
  auto operator<=>(const OffsetRange&) const = default;
};
// Log time divided by the slot length: the absolute number of an hour (strictly, of a slot length).
using HourIndex = StrongInt<struct HourIndexTag, int64_t>;
// HourIndex modulo the number of slots: a place on the ring, [0, ring.slots).
using SlotIndex = StrongInt<struct SlotIndexTag, uint32_t>;
// Which drain of a slot: in the hour after its own, an hour later, or a lap later. For counters, not for correctness.
enum class DrainAttempt : uint8_t { kFirst = 1, kSecond = 2, kLap = 3 };
// Number of a period since the epoch in the configured time zone; months count from 1970-01 = 0 (state/period.h).
using PeriodIndex = StrongInt<struct PeriodIndexTag, int32_t>;
// Event time divided by 15 minutes. Every UTC offset in use since 2000 is a multiple of 15 minutes, so a quarter
// lies in exactly one day, week and month of any time zone.
using QuarterIndex = StrongInt<struct QuarterIndexTag, int64_t>;
inline constexpr int64_t kQuarterMs = 15 * 60 * 1000;

// Hash of an item's id, the same for all users (base/hash.h). The log carries the hash instead of the text.
using ItemHash = StrongInt<struct ItemHashTag, uint64_t>;

// The longest scene, user id or item id that is accepted, in bytes.
inline constexpr size_t kIdBytesMax = 128;

// Scene + user id: the owner of filters. The bytes are one length byte of the scene, the scene, the user id; so two
// different pairs never give the same bytes.
class UserKey {
 public:
  UserKey() = default;
  // Both at most kIdBytesMax bytes; the caller has checked that.
  UserKey(std::string_view scene, std::string_view user);
  // Takes the encoded bytes as they are; the caller has checked them with `valid`.
  static UserKey from_bytes(std::string_view bytes) {
    UserKey key;
    key.bytes_ = bytes;
    return key;
  }
  // True when the bytes are a scene and a user id within their bounds, the user id not empty.
  static bool valid(std::string_view bytes);

  // These point into the key, which the caller keeps unchanged and in place.
  std::string_view bytes() const BLOOMRING_LIFETIMEBOUND { return bytes_; }
  std::string_view scene() const BLOOMRING_LIFETIMEBOUND { return std::string_view(bytes_).substr(1, scene_bytes()); }
  std::string_view user() const BLOOMRING_LIFETIMEBOUND { return std::string_view(bytes_).substr(1 + scene_bytes()); }
  auto operator<=>(const UserKey&) const = default;

 private:
  size_t scene_bytes() const { return static_cast<unsigned char>(bytes_[0]); }
  std::string bytes_ = std::string(1, '\0');
};

}  // namespace bloomring

template <typename Tag, typename Int>
struct std::hash<bloomring::StrongInt<Tag, Int>> {
  size_t operator()(bloomring::StrongInt<Tag, Int> id) const { return std::hash<Int>()(id.value); }
};
