#include <algorithm>

#include "filter/filter.h"
#include "filter/fingerprints.h"
#include "filter/format.h"
#include "filter/ladder.h"

namespace bloomring::filter {

namespace {

// Brings two sets to one width, the smaller one, and unites them.
void unite_sets(Fingerprints& set, uint32_t& width_bits, Fingerprints more, uint32_t more_bits) {
  if (more.empty()) return;
  const uint32_t to_bits = set.empty() ? more_bits : std::min(width_bits, more_bits);
  if (!set.empty()) set = fold(std::move(set), width_bits, to_bits);
  more = fold(std::move(more), more_bits, to_bits);
  if (more.size() > set.size()) std::swap(set, more);
  unite_into(set, more);
  width_bits = to_bits;
}

// Gathers the sets of all values and cuts no bit without need. The narrow set takes the smallest width of any narrow
// set (cut bits do not come back); the wide set takes the rest.
Result<Parts> gather(std::span<const std::string_view> values, std::string_view store_key) {
  if (values.empty()) return invalid("a union of no filters");
  std::vector<Parts> all(values.size());
  uint32_t narrow_width_bits = kWidthBitsMax;
  for (size_t v = 0; v < values.size(); ++v) {
    BLOOMRING_TRY_ASSIGN(const View view, parse(values[v], store_key, Checksum::kVerify));
    BLOOMRING_TRY(decode(view, all[v]));
    if (!all[v].narrow.empty()) narrow_width_bits = std::min(narrow_width_bits, all[v].narrow_width_bits);
  }
  Parts united;
  for (Parts& parts : all) {
    united.folded |= parts.folded;
    const bool stays_narrow = parts.narrow_width_bits == narrow_width_bits;
    Fingerprints& set = stays_narrow ? united.narrow : united.wide;
    uint32_t& width_bits = stays_narrow ? united.narrow_width_bits : united.wide_width_bits;
    unite_sets(set, width_bits, std::move(parts.narrow), parts.narrow_width_bits);
    unite_sets(united.wide, united.wide_width_bits, std::move(parts.wide), parts.wide_width_bits);
  }
  if (united.wide.empty() || united.narrow.empty()) return united;
  if (united.wide_width_bits <= united.narrow_width_bits) {  // Policies were far apart.
    unite_sets(united.narrow, united.narrow_width_bits, std::move(united.wide), united.wide_width_bits);
    united.wide.clear();
  } else {
    remove_covered(united.wide, united.wide_width_bits, united.narrow, united.narrow_width_bits);
  }
  return united;
}

void narrow_down(Parts& parts, uint32_t width_bits) {
  if (!parts.narrow.empty()) parts.narrow = fold(std::move(parts.narrow), parts.narrow_width_bits, width_bits);
  parts.narrow_width_bits = width_bits;
  unite_sets(parts.narrow, parts.narrow_width_bits, fold(std::move(parts.wide), parts.wide_width_bits, width_bits),
             width_bits);
  parts.wide.clear();
}

// Number of distinct fingerprints in a sorted set after a fold.
uint64_t count_folded(const Fingerprints& set, uint32_t from_bits, uint32_t to_bits) {
  uint64_t count = set.empty() ? 0 : 1;
  for (size_t i = 1; i < set.size(); ++i) count += (set[i] ^ set[i - 1]) >> (from_bits - to_bits) != 0;
  return count;
}

}  // namespace

Result<std::string> unite_operands(std::span<const std::string_view> values, std::string_view store_key) {
  BLOOMRING_TRY_ASSIGN(Parts parts, gather(values, store_key));
  return assemble(parts, store_key);
}

Result<std::string> unite(std::span<const std::string_view> values, std::string_view store_key, const Policy& policy,
                          bool closed) {
  BLOOMRING_TRY_ASSIGN(Parts parts, gather(values, store_key));
  const Ladder ladder = ladder_of(policy);

  UnionFacts facts;
  facts.closed = closed;
  facts.narrow_width_bits = parts.narrow.empty() ? 0 : parts.narrow_width_bits;
  const uint32_t common_bits = std::min(parts.narrow.empty() ? ladder.narrow_bits : parts.narrow_width_bits,
                                        parts.wide.empty() ? kWidthBitsMax : parts.wide_width_bits);
  facts.new_items = count_folded(parts.wide, parts.wide_width_bits, common_bits);
  facts.items = parts.narrow.size() + facts.new_items;

  UnionPlan plan = plan_union(ladder, facts);
  if (!plan.keep_wide) {
    if (!parts.wide.empty()) plan.narrow_width_bits = std::min(plan.narrow_width_bits, parts.wide_width_bits);
    narrow_down(parts, plan.narrow_width_bits);
  }
  const uint64_t items = parts.narrow.size() + parts.wide.size();
  parts.folded |= plan.fold;
  parts.index = takes_index(policy, items);
  parts.saturated = is_saturated(
      ladder, items, error_of(parts.narrow.size(), parts.narrow_width_bits, parts.wide.size(), parts.wide_width_bits));
  return assemble(parts, store_key);
}

}  // namespace bloomring::filter
