// The one builder of filter store keys. A filter's key names its user, its period and the unit of periods.
//
//   filter key     'f' shard:u16be user_key:bytes unit:('m' | 'w' | 'd') period:u16be
//   forgotten key  'g' shard:u16be user_key:bytes
//   watermark key  'w' partition:u16be
//   meta key       'm'
//
// The shard comes first and numbers are big-endian, so the filters of a partition are one contiguous range of keys, and
// the periods of a user lie next to each other, oldest first. The user key needs no length: the parts before and after
// it have a fixed size, so two different filters never get the same key.
//
// Example: scene "feed", user "u1", month 683 (2026-12) is
//   66 0803 04 66656564 7531 6d 02ab
//
// Errors: kCorrupt for a key that this builder would not have made.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/user_ref.h"

namespace bloomring {

// The length of a site's periods. The value is the unit's letter in store keys.
enum class PeriodUnit : uint8_t { kMonth = 'm', kWeek = 'w', kDay = 'd' };

// Periods that a key can name: 1970-01 to the year 7431 for months, to 2149-06-06 for days.
inline constexpr int32_t kPeriodIndexMax = 0xffff;
constexpr bool period_has_key(PeriodIndex period) { return period.value >= 0 && period.value <= kPeriodIndexMax; }

// A filter key taken apart. `user_key` points into the key.
struct FilterKey {
  ShardId shard;
  std::string_view user_key;  // UserKey bytes. Borrowed from the key that was parsed.
  PeriodUnit unit = PeriodUnit::kMonth;
  PeriodIndex period;
};

inline constexpr char kFilterKeyTag = 'f';
inline constexpr char kForgottenKeyTag = 'g';
inline constexpr char kWatermarkKeyTag = 'w';

// The user's key is valid UserKey bytes and the period has a key: the caller has checked both.
std::string filter_key(UserRef user, PeriodUnit unit, PeriodIndex period);
Result<FilterKey> parse_filter_key(std::string_view key);
// The key of the user's forgets (schemas/forgotten.h).
std::string forgotten_key(UserRef user);
// The UserKey bytes; they point into the key.
Result<std::string_view> parse_forgotten_key(std::string_view key);

// "filter of user u1 in scene feed, month 683", "what user u1 has forgotten"; for a key that is neither, its bytes,
// unprintable ones as %XX.
std::string describe_store_key(std::string_view key);

// Filter keys of all shards lie in [begin, end).
inline constexpr std::string_view kFilterKeysBegin = "f";
inline constexpr std::string_view kFilterKeysEnd = "g";

std::string watermark_key(PartitionId partition);
Result<PartitionId> parse_watermark_key(std::string_view key);

inline constexpr std::string_view kWatermarkKeysBegin = "w";
inline constexpr std::string_view kWatermarkKeysEnd = "x";

// The key of a store's own format version and partition count (state/store/store_meta.h).
inline constexpr std::string_view kMetaKey = "m";

}  // namespace bloomring
