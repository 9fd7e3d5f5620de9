// The one builder of filter store keys. A filter's key names its user, its period and the unit of periods.
//
//   filter key     'f' shard:u16be user_key:bytes unit:('m' | 'w' | 'd') period:u16be
//   forgotten key  'g' shard:u16be user_key:bytes
//   watermark key  'w' partition:u16be
//   meta key       'm'
//   slot end key   'k'
//   deletion mark  'e' shard:u16be
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
// The two kinds of values that a store has of users, by the tag of their keys.
enum class ValueKind : char { kFilter = kFilterKeyTag, kForgotten = kForgottenKeyTag };
inline constexpr char kWatermarkKeyTag = 'w';
inline constexpr char kDeletionMarkKeyTag = 'e';

// The user's key is valid UserKey bytes and the period has a key: the caller has checked both.
std::string filter_key(UserRef user, PeriodUnit unit, PeriodIndex period);
Result<FilterKey> parse_filter_key(std::string_view key);
// The key of the user's forgets (schemas/forgotten.h).
std::string forgotten_key(UserRef user);
// The UserKey bytes; they point into the key.
Result<std::string_view> parse_forgotten_key(std::string_view key);

// "#8f1c5a90d2b34e67": the hash of the user key, by which messages name a user.
std::string user_hash_text(std::string_view user_key);
// "filter of user #8f1c5a90d2b34e67 in scene feed, month 683", "what user #8f1c5a90d2b34e67 has forgotten": the user's
// hash and not the id, since logs and answers have no ids of users; `bloomring inspect user` shows the hash of an id.
// For a key that is neither: "key f... of 17 bytes".
std::string describe_store_key(std::string_view key);

// Filter keys of all shards lie in [begin, end).
inline constexpr std::string_view kFilterKeysBegin = "f";
inline constexpr std::string_view kFilterKeysEnd = "g";

// Keys [begin, end).
struct KeyRange {
  std::string begin;
  std::string end;
};
// Of the filters, and of the forgotten values, of one shard's users.
KeyRange filter_keys_of(ShardId shard);
KeyRange forgotten_keys_of(ShardId shard);

// The user of a filter key or a forgotten key: UserKey bytes that point into the key.
Result<std::string_view> parse_user_of(std::string_view store_key);

// The key of the shard's deletion mark (schemas/store/deletion_mark.h).
std::string deletion_mark_key(ShardId shard);
Result<ShardId> parse_deletion_mark_key(std::string_view key);
inline constexpr std::string_view kDeletionMarkKeysBegin = "e";
inline constexpr std::string_view kDeletionMarkKeysEnd = "f";

std::string watermark_key(PartitionId partition);
Result<PartitionId> parse_watermark_key(std::string_view key);

inline constexpr std::string_view kWatermarkKeysBegin = "w";
inline constexpr std::string_view kWatermarkKeysEnd = "x";

// The key of a store's own format version and partition count (schemas/store/store_meta.h).
inline constexpr std::string_view kMetaKey = "m";
// The key of the secret for slot ends (schemas/store/slot_end_key.h).
inline constexpr std::string_view kSlotEndKeyKey = "k";

}  // namespace bloomring
