#include "filter/filter.h"

#include "base/hash.h"
#include "filter/fingerprints.h"
#include "filter/format.h"
#include "filter/ladder.h"

namespace bloomring::filter {

std::string make(std::span<const ItemHash> items, std::string_view user_key_bytes, std::string_view store_key,
                 const Policy& policy) {
  const Ladder ladder = ladder_of(policy);
  Parts parts;
  parts.wide_width_bits = ladder.wide_bits;
  parts.wide = fingerprints_of(items, user_multiplier(user_key_bytes), ladder.wide_bits);
  return assemble(parts, store_key);
}

Result<Summary> summarize(std::string_view value, std::string_view store_key) {
  BLOOMRING_TRY_ASSIGN(const View view, parse(value, store_key, Checksum::kVerify));
  Parts parts;
  BLOOMRING_TRY(decode(view, parts));
  BLOOMRING_TRY(check_index(view, parts));
  Summary summary;
  summary.form = view.has(kHasIndex) ? Summary::Form::kDense : Summary::Form::kSparse;
  summary.items = view.narrow.items + view.wide.items;
  summary.width_bits = view.width_bits();
  summary.sets = view.has(kHasNarrow) && view.has(kHasWide) ? 2 : 1;
  summary.folded = view.has(kFolded);
  summary.saturated = view.has(kSaturated);
  summary.expected_error = view.expected_error();
  summary.bytes = value.size();
  return summary;
}

}  // namespace bloomring::filter
