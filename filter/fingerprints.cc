#include "filter/fingerprints.h"

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

namespace {

// True for a fingerprint that begins with one in `narrow`; asked in ascending order.
class Covered {
 public:
  Covered(const Fingerprints& narrow, uint32_t cut_bits)
      : at_(narrow.begin()), end_(narrow.end()), cut_bits_(cut_bits) {}

  bool operator()(uint64_t wide) {
    at_ = std::lower_bound(at_, end_, wide >> cut_bits_);
    return at_ != end_ && *at_ == wide >> cut_bits_;
  }

 private:
  Fingerprints::const_iterator at_;
  Fingerprints::const_iterator end_;
  uint32_t cut_bits_;
};

}  // namespace

bool covers_any(const Fingerprints& wide, uint32_t wide_bits, const Fingerprints& narrow, uint32_t narrow_bits) {
  if (wide.empty() || narrow.empty()) return false;
  Covered covered(narrow, wide_bits - narrow_bits);
  for (const uint64_t fingerprint : wide) {
    if (covered(fingerprint)) return true;
  }
  return false;
}

void remove_covered(Fingerprints& wide, uint32_t wide_bits, const Fingerprints& narrow, uint32_t narrow_bits) {
  Covered covered(narrow, wide_bits - narrow_bits);
  Fingerprints left;
  for (const uint64_t fingerprint : wide) {
    if (!covered(fingerprint)) left.push_back(fingerprint);
  }
  wide = std::move(left);
}

}  // namespace bloomring::filter
