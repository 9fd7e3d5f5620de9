#include "serving/mirror/mirrored_query.h"

#include <string>

namespace bloomring {

namespace {

// The ids have been checked.
void append_ids(const v1::Ids& ids, std::vector<std::string>& items) {
  items.insert(items.end(), ids.text().begin(), ids.text().end());
  for (const int64_t id : ids.integers()) items.push_back(std::to_string(id));
  std::string_view rest = ids.packed().bytes();
  for (const char length : ids.packed().lengths()) {
    items.emplace_back(rest.substr(0, static_cast<uint8_t>(length)));
    rest.remove_prefix(static_cast<uint8_t>(length));
  }
}

}  // namespace

Result<FilterCall> mirrored_query(const v1::FilterRequest& request, const RequestLimits& limits) {
  BLOOMRING_TRY(decode(request, limits).status());
  FilterCall query;
  query.user = request.user();
  query.scene = request.scene();
  query.all_scenes = request.all_scenes();
  append_ids(request.candidates(), query.items);
  return query;
}

}  // namespace bloomring
