// The names of a store's values on servers of the Redis protocol, and the cluster slots in which these lie.
//
//   of a shard      prefix "{" shard:decimal "}" logical_key:raw     a filter or a forgotten value (store_key.h)
//                   prefix "{" shard:decimal "}" "s"                 the state of the shard (shard_state.h)
//                   prefix "{" shard:decimal "}" "x" name:16hex logical_key:raw
//                                                                    what another program had written under the key;
//                                                                    each such value has another name
//   of a partition  prefix "{p" partition:decimal "}" "w"            the merged watermark
//                   prefix "{p" partition:decimal "}" "s"            who writes the partition
//   of the store    prefix "{m}" "m"                                 the description (schemas/store/store_meta.h)
//                   prefix "{m}" "k"                                 the key of slot ends (slot_end_key.h)
//
// A cluster hashes what stands between the first "{" and the next "}". So everything of a user lies in one slot, and
// with it the state of its shard: one command reads or writes both as of one moment. A tag for each user would spread
// values more evenly, but could not be fenced: a script reaches the keys of one slot alone. 5000 tags spread evenly
// enough over some hundred servers.
//
// Example: prefix "bloomring:", user "u1" of scene "feed" (shard 2051), month 683:
//   bloomring:{2051}f\x08\x03\x04feedu1m\x02\xab
//
// Errors: kCorrupt for a key that this builder would not have made.
// Threading: pure functions; RedisKeys is immutable.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/user_ref.h"
#include "schemas/store_key.h"

namespace bloomring {

inline constexpr size_t kAsideNameBytes = 16;

// Empty, or "must be ..." for a prefix that would move the hash tag.
std::string complain_about_prefix(const std::string& prefix);

class RedisKeys {
 public:
  explicit RedisKeys(std::string prefix) : prefix_(std::move(prefix)) {}

  std::string filter(UserRef user, PeriodUnit unit, PeriodIndex period) const;
  std::string forgotten(UserRef user) const;
  std::string shard_state(ShardId shard) const { return of_shard(shard) + "s"; }
  // `name`: kAsideNameBytes hexadecimal digits that no other value under the logical key has.
  std::string aside(ShardId shard, std::string_view name, std::string_view logical_key) const;
  std::string watermark(PartitionId partition) const { return of_partition(partition) + "w"; }
  std::string owner(PartitionId partition) const { return of_partition(partition) + "s"; }
  std::string meta() const { return prefix_ + "{m}m"; }
  std::string slot_end_key() const { return prefix_ + "{m}k"; }
  std::string probe() const { return prefix_ + "{m}probe"; }

  // The pattern of SCAN for every key of the store.
  std::string pattern() const;
  // The logical key of a filter or a forgotten value; it points into `key`. Empty for a key of another kind, and for
  // what lies under another prefix.
  Result<std::string_view> logical(std::string_view key) const;
  bool is_aside(std::string_view key) const;
  // The shard whose state lies under the key; nothing for another key.
  std::optional<ShardId> shard_of_state(std::string_view key) const;

 private:
  std::string of_shard(ShardId shard) const { return prefix_ + "{" + std::to_string(shard.value) + "}"; }
  std::string of_partition(PartitionId partition) const {
    return prefix_ + "{p" + std::to_string(partition.value) + "}";
  }

  const std::string prefix_;
};

}  // namespace bloomring
