#include "state/store/store_admin.h"

#include <utility>

#include "filter/filter.h"
#include "schemas/damaged_value.h"
#include "schemas/store_key.h"

namespace bloomring {

void StoreCheck::note_row(const Status& checked) {
  if (checked.ok()) return;
  ++damaged;
  if (damages.size() < kDamagesMax) damages.push_back(checked.message());
}

Status StoreCheck::check_filter(std::string_view store_key, std::string_view value) {
  ++filters;
  filter_bytes += value.size();
  BLOOMRING_TRY(check_stored(value, store_key));
  auto summary = filter::summarize(value, store_key);
  if (!summary.ok()) return std::move(summary).status().with_context(describe_store_key(store_key));
  items += summary->items;
  return {};
}

}  // namespace bloomring
