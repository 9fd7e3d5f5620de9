#include "state/store/stored_union.h"

#include <functional>
#include <vector>

namespace bloomring {

namespace {

using Unite = std::function<Result<std::string>(std::span<const std::string_view>)>;

// Unites one value after the other, refusing those that fail. Slow; only after a union of all at once failed.
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
  return {damage.refused == 0 ? std::move(good) : encode_damaged(damage, good), damage.fresh};
}

}  // namespace

StoredUnion unite_stored(std::span<const std::string_view> values, std::string_view store_key,
                         const filter::Policy& policy, bool closed) {
  return unite_with(values, [&](auto parts) { return filter::unite(parts, store_key, policy, closed); });
}

StoredUnion unite_stored_operands(std::span<const std::string_view> values, std::string_view store_key) {
  return unite_with(values, [&](auto parts) { return filter::unite_operands(parts, store_key); });
}

}  // namespace bloomring
