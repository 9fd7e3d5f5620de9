#include "schemas/store_key.h"

#include <array>
#include <cstdio>

#include "base/hash.h"

namespace bloomring {

namespace {

constexpr size_t kFilterKeyHeadBytes = 3;  // Tag and shard.
constexpr size_t kFilterKeyTailBytes = 3;  // Unit and period.
constexpr size_t kWatermarkKeyBytes = 3;

void append_u16_be(std::string& out, uint32_t value) {
  out.push_back(static_cast<char>(value >> 8));
  out.push_back(static_cast<char>(value));
}

uint16_t u16_be(std::string_view bytes) {
  return static_cast<uint16_t>(static_cast<unsigned char>(bytes[0]) << 8 | static_cast<unsigned char>(bytes[1]));
}

// Printable characters as they are, others as %XX.
std::string readable(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string text;
  for (const char c : bytes) {
    if (c > ' ' && c < '\x7f' && c != '%') {
      text.push_back(c);
    } else {
      text.push_back('%');
      text.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
      text.push_back(kDigits[static_cast<unsigned char>(c) & 15]);
    }
  }
  return text;
}

std::string describe_user(std::string_view user_key) {
  const std::string scene(UserKey::from_bytes(user_key).scene());
  return user_hash_text(user_key) + (scene.empty() ? "" : " in scene " + readable(scene));
}

std::string_view unit_name(PeriodUnit unit) {
  if (unit == PeriodUnit::kMonth) return "month";
  return unit == PeriodUnit::kWeek ? "week" : "day";
}

bool is_unit(char letter) { return letter == 'm' || letter == 'w' || letter == 'd'; }

}  // namespace

std::string user_hash_text(std::string_view user_key) {
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "#%016llx", static_cast<unsigned long long>(user_hash(user_key)));
  return text.data();
}

std::string filter_key(UserRef user, PeriodUnit unit, PeriodIndex period) {
  BLOOMRING_CHECK(period_has_key(period), std::to_string(period.value));
  std::string key;
  key.reserve(kFilterKeyHeadBytes + user.key.size() + kFilterKeyTailBytes);
  key.push_back(kFilterKeyTag);
  append_u16_be(key, user.shard().value);
  key.append(user.key);
  key.push_back(static_cast<char>(unit));
  append_u16_be(key, static_cast<uint32_t>(period.value));
  return key;
}

Result<FilterKey> parse_filter_key(std::string_view key) {
  if (key.size() <= kFilterKeyHeadBytes + kFilterKeyTailBytes || key[0] != kFilterKeyTag) {
    return corrupt("not a filter key");
  }
  const std::string_view tail = key.substr(key.size() - kFilterKeyTailBytes);
  FilterKey parsed;
  parsed.shard = ShardId(u16_be(key.substr(1)));
  parsed.user_key = key.substr(kFilterKeyHeadBytes, key.size() - kFilterKeyHeadBytes - kFilterKeyTailBytes);
  parsed.period = PeriodIndex(u16_be(tail.substr(1)));
  if (!is_unit(tail[0])) return corrupt("filter key with an unknown unit of periods");
  parsed.unit = static_cast<PeriodUnit>(tail[0]);
  if (!UserKey::valid(parsed.user_key)) return corrupt("filter key without a valid user key");
  if (parsed.shard != shard_of(parsed.user_key)) return corrupt("filter key under the wrong shard");
  return parsed;
}

std::string forgotten_key(UserRef user) {
  std::string key(1, kForgottenKeyTag);
  append_u16_be(key, user.shard().value);
  key.append(user.key);
  return key;
}

Result<std::string_view> parse_forgotten_key(std::string_view key) {
  if (key.size() <= kFilterKeyHeadBytes || key[0] != kForgottenKeyTag) return corrupt("not a forgotten key");
  const std::string_view user_key = key.substr(kFilterKeyHeadBytes);
  if (!UserKey::valid(user_key)) return corrupt("forgotten key without a valid user key");
  if (u16_be(key.substr(1)) != shard_of(user_key).value) return corrupt("forgotten key under the wrong shard");
  return user_key;
}

Result<std::string_view> parse_user_of(std::string_view store_key) {
  if (store_key.starts_with(kForgottenKeyTag)) return parse_forgotten_key(store_key);
  BLOOMRING_TRY_ASSIGN(const FilterKey key, parse_filter_key(store_key));
  return key.user_key;
}

std::string describe_store_key(std::string_view key) {
  if (const auto user_key = parse_forgotten_key(key); user_key.ok()) {
    return "what user " + describe_user(*user_key) + " has forgotten";
  }
  const auto parsed = parse_filter_key(key);
  if (!parsed.ok()) return "key " + readable(key.substr(0, 1)) + "... of " + std::to_string(key.size()) + " bytes";
  return "filter of user " + describe_user(parsed->user_key) + ", " + std::string(unit_name(parsed->unit)) + " " +
         std::to_string(parsed->period.value);
}

namespace {

std::string shard_key(char tag, uint32_t shard) {
  std::string key(1, tag);
  append_u16_be(key, shard);
  return key;
}

}  // namespace

KeyRange filter_keys_of(ShardId shard) {
  return {shard_key(kFilterKeyTag, shard.value), shard_key(kFilterKeyTag, shard.value + 1U)};
}

KeyRange forgotten_keys_of(ShardId shard) {
  return {shard_key(kForgottenKeyTag, shard.value), shard_key(kForgottenKeyTag, shard.value + 1U)};
}

std::string deletion_mark_key(ShardId shard) { return shard_key(kDeletionMarkKeyTag, shard.value); }

Result<ShardId> parse_deletion_mark_key(std::string_view key) {
  if (key.size() != kFilterKeyHeadBytes || key[0] != kDeletionMarkKeyTag) return corrupt("not a deletion mark's key");
  const ShardId shard(u16_be(key.substr(1)));
  if (shard.value >= kShardCount) return corrupt("deletion mark of an impossible shard");
  return shard;
}

std::string watermark_key(PartitionId partition) {
  BLOOMRING_CHECK(partition.value >= 0 && partition.value < static_cast<int32_t>(kShardCount),
                  std::to_string(partition.value));
  std::string key(1, kWatermarkKeyTag);
  append_u16_be(key, static_cast<uint32_t>(partition.value));
  return key;
}

Result<PartitionId> parse_watermark_key(std::string_view key) {
  if (key.size() != kWatermarkKeyBytes || key[0] != kWatermarkKeyTag) return corrupt("not a watermark key");
  const PartitionId partition(u16_be(key.substr(1)));
  if (partition.value >= static_cast<int32_t>(kShardCount)) return corrupt("watermark key of an impossible partition");
  return partition;
}

}  // namespace bloomring
