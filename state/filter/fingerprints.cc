#include "state/filter/fingerprints.h"

#include <algorithm>

namespace bloomring::filter {

Fingerprints fingerprints_of(std::span<const ItemHash> items, uint64_t multiplier, uint32_t width_bits) {
  Fingerprints set;
  set.reserve(items.size());
  for (const ItemHash item : items) set.push_back(fingerprint_of(item, multiplier, width_bits));
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

Fingerprints fold(Fingerprints set, uint32_t from_bits, uint32_t to_bits) {
  if (from_bits == to_bits) return set;
  for (uint64_t& fingerprint : set) fingerprint >>= from_bits - to_bits;
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

void unite_into(Fingerprints& set, const Fingerprints& more) {
  if (more.empty()) return;
  if (set.empty()) {
    set = more;
    return;
  }
  // Runs of `set` between two of `more` are copied as blocks: a union with a few costs searches and one copy.
  Fingerprints both;
  both.reserve(set.size() + more.size());
  auto from = set.begin();
  for (const uint64_t fingerprint : more) {
    const auto to = std::lower_bound(from, set.end(), fingerprint);
    both.insert(both.end(), from, to);
    both.push_back(fingerprint);
    from = to != set.end() && *to == fingerprint ? to + 1 : to;
  }
  both.insert(both.end(), from, set.end());
  set = std::move(both);
}

void remove_covered(Fingerprints& wide, uint32_t wide_bits, const Fingerprints& narrow, uint32_t narrow_bits) {
  const uint32_t cut_bits = wide_bits - narrow_bits;
  auto at = narrow.begin();
  std::erase_if(wide, [&](uint64_t fingerprint) {
    at = std::lower_bound(at, narrow.end(), fingerprint >> cut_bits);
    return at != narrow.end() && *at == fingerprint >> cut_bits;
  });
}

}  // namespace bloomring::filter
