#include <algorithm>

#include "base/hash.h"
#include "state/filter/filter.h"
#include "state/filter/fingerprints.h"
#include "state/filter/format.h"

namespace bloomring::filter {

struct Query::Impl {
  std::vector<Parts> filters;
  double expected_error = 0;
};

Query::Query() : impl_(std::make_unique<Impl>()) {}
Query::~Query() = default;
Query::Query(Query&&) noexcept = default;
Query& Query::operator=(Query&&) noexcept = default;

Status Query::add(std::string_view value, std::string_view store_key) {
  if (impl_->filters.size() == kFiltersMax) return invalid("a query reads at most 64 filters");
  BLOOMRING_TRY_ASSIGN(const View view, parse(value, store_key, Checksum::kVerify));
  Parts parts;
  BLOOMRING_TRY(decode(view, parts));
  impl_->expected_error += view.expected_error();
  impl_->filters.push_back(std::move(parts));
  return {};
}

void Query::run(std::span<const ItemHash> candidates, std::string_view user_key_bytes, std::span<uint8_t> found) {
  BLOOMRING_CHECK(found.size() == candidates.size(), "one answer for each candidate");
  const uint64_t multiplier = user_multiplier(user_key_bytes);
  const auto holds = [](const Fingerprints& set, uint32_t width_bits, uint64_t key) {
    return !set.empty() && std::binary_search(set.begin(), set.end(), key >> (64 - width_bits));
  };
  for (size_t c = 0; c < candidates.size(); ++c) {
    const uint64_t key = candidates[c].value * multiplier;
    found[c] = kUnseen;
    for (size_t f = 0; f < impl_->filters.size() && found[c] == kUnseen; ++f) {
      const Parts& parts = impl_->filters[f];
      if (holds(parts.narrow, parts.narrow_width_bits, key) || holds(parts.wide, parts.wide_width_bits, key)) {
        found[c] = static_cast<uint8_t>(f);
      }
    }
  }
}

double Query::expected_error() const { return impl_->expected_error; }

void Query::clear() {
  impl_->filters.clear();
  impl_->expected_error = 0;
}

}  // namespace bloomring::filter
