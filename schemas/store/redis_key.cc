#include "schemas/store/redis_key.h"

#include <algorithm>
#include <charconv>

#include "base/hash.h"
#include "schemas/store_key.h"

namespace bloomring {

std::string complain_about_prefix(const std::string& prefix) {
  // Braces would make another hash tag; the others are special in the patterns of SCAN.
  const bool plain = std::ranges::all_of(prefix, [](char c) {
    return c > ' ' && c < '\x7f' && std::string_view("{}*?[]\\^").find(c) == std::string_view::npos;
  });
  if (plain && prefix.size() <= 64) return "";
  return "must be at most 64 printable characters without blanks and { } * ? [ ] \\ ^";
}

std::string RedisKeys::filter(UserRef user, PeriodUnit unit, PeriodIndex period) const {
  return of_shard(user.shard()) + filter_key(user, unit, period);
}

std::string RedisKeys::forgotten(UserRef user) const { return of_shard(user.shard()) + forgotten_key(user); }

std::string RedisKeys::aside(ShardId shard, std::string_view name, std::string_view logical_key) const {
  return (of_shard(shard) + "x").append(name).append(logical_key);
}

std::string RedisKeys::pattern() const { return prefix_ + "{*"; }

Result<std::string_view> RedisKeys::logical(std::string_view key) const {
  if (!key.starts_with(prefix_) || key.substr(prefix_.size(), 1) != "{") return std::string_view();
  const size_t close = key.find('}', prefix_.size());
  if (close == std::string_view::npos) return std::string_view();
  const std::string_view tag = key.substr(prefix_.size() + 1, close - prefix_.size() - 1);
  const std::string_view logical = key.substr(close + 1);
  if (logical.empty() || (logical[0] != kFilterKeyTag && logical[0] != kForgottenKeyTag)) return std::string_view();
  std::string_view user_key;
  if (logical[0] == kFilterKeyTag) {
    BLOOMRING_TRY_ASSIGN(const FilterKey parsed, parse_filter_key(logical));
    user_key = parsed.user_key;
  } else {
    BLOOMRING_TRY_ASSIGN(user_key, parse_forgotten_key(logical));
  }
  if (tag != std::to_string(UserRef(user_key).shard().value)) {
    return corrupt(describe_store_key(logical) + " under the hash tag of another shard");
  }
  return logical;
}

std::optional<ShardId> RedisKeys::shard_of_state(std::string_view key) const {
  if (!key.starts_with(prefix_ + "{") || !key.ends_with("}s")) return std::nullopt;
  const std::string_view tag = key.substr(prefix_.size() + 1, key.size() - prefix_.size() - 3);
  uint16_t shard = 0;
  const auto [end, error] = std::from_chars(tag.data(), tag.data() + tag.size(), shard);
  if (error != std::errc() || end != tag.data() + tag.size() || shard >= kShardCount) return std::nullopt;
  return ShardId(shard);
}

bool RedisKeys::is_aside(std::string_view key) const {
  const size_t close = key.find('}');
  return key.starts_with(prefix_) && close != std::string_view::npos && key.substr(close + 1, 1) == "x";
}

}  // namespace bloomring
