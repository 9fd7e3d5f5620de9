#include "state/stored_union.h"

#include <functional>
#include <vector>

#include "schemas/bytes.h"
#include "schemas/store_key.h"

namespace bloomring {

namespace {

constexpr uint8_t kDamagedMark = 0x00;
constexpr size_t kReasonBytesMax = 200;

using Unite = std::function<Result<std::string>(std::span<const std::string_view>)>;

struct Damage {
  uint64_t refused = 0;  // By this union and those before.
  uint64_t fresh = 0;    // By this one.
  std::string reason;

  void note_known(uint64_t count, std::string_view why) {
    refused += count;
    if (reason.empty()) reason = why.substr(0, kReasonBytesMax);
  }
  void note(std::string_view why) {
    note_known(1, why);
    ++fresh;
  }
};

bool is_damaged(std::string_view value) { return !value.empty() && static_cast<uint8_t>(value[0]) == kDamagedMark; }

std::string encode(const Damage& damage, std::string_view good) {
  std::string value;
  ByteWriter writer(value);
  writer.u8(kDamagedMark);
  writer.varint(damage.refused);
  writer.bytes(damage.reason);
  writer.raw(good);
  return value;
}

// Takes a damaged value apart: its good part, which is empty where there is none, and its damage.
std::string_view open_damaged(std::string_view value, Damage& damage) {
  ByteReader reader(value.substr(1));
  const uint64_t refused = reader.varint();
  const std::string_view reason = reader.bytes();
  const std::string_view good = reader.raw(reader.left());
  if (reader.ok())
    damage.note_known(refused, reason);
  else
    damage.note("damaged beyond reading");
  return good;
}

// Unites one after the other, refusing what does not fit. Slow; only after a union of all at once failed.
std::string unite_good(const std::vector<std::string_view>& values, const Unite& unite, Damage& damage) {
  std::string good;
  for (const std::string_view value : values) {
    std::vector<std::string_view> pair;
    if (!good.empty()) pair.push_back(good);
    pair.push_back(value);
    auto united = unite(pair);
    if (united.ok())
      good = std::move(united).value();
    else
      damage.note(united.status().message());
  }
  return good;
}

StoredUnion unite_with(std::span<const std::string_view> values, const Unite& unite) {
  Damage damage;
  std::vector<std::string_view> parts;
  for (const std::string_view value : values) {
    const std::string_view part = is_damaged(value) ? open_damaged(value, damage) : value;
    if (!part.empty())
      parts.push_back(part);
    else if (!is_damaged(value))
      damage.note("an empty value");
  }
  std::string good;
  if (!parts.empty()) {
    auto united = unite(parts);
    good = united.ok() ? std::move(united).value() : unite_good(parts, unite, damage);
  }
  return {damage.refused == 0 ? std::move(good) : encode(damage, good), damage.fresh};
}

}  // namespace

StoredUnion unite_stored(std::span<const std::string_view> values, std::string_view store_key,
                         const filter::Policy& policy, bool closed) {
  return unite_with(values, [&](auto parts) { return filter::unite(parts, store_key, policy, closed); });
}

StoredUnion unite_stored_operands(std::span<const std::string_view> values, std::string_view store_key) {
  return unite_with(values, [&](auto parts) { return filter::unite_operands(parts, store_key); });
}

Status check_stored(std::string_view value, std::string_view store_key) {
  if (!is_damaged(value)) return {};
  Damage damage;
  const std::string_view good = open_damaged(value, damage);
  return corrupt(describe_store_key(store_key) + ": " + std::to_string(damage.refused) +
                 " part(s) of it were refused (" + damage.reason + ")" + (good.empty() ? "" : "; the rest is kept"));
}

}  // namespace bloomring
