#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "filter/filter.h"
#include "filter/format.h"
#include "filter/kernels.h"
#include "filter/union_table.h"

namespace bloomring::filter {

struct VerifiedValue::Parsed {
  View view;
};

VerifiedValue::VerifiedValue(std::string bytes, std::string store_key)
    : bytes_(std::move(bytes)), store_key_(std::move(store_key)) {}

VerifiedValue::~VerifiedValue() = default;

Result<std::shared_ptr<const VerifiedValue>> VerifiedValue::verify(std::string bytes, std::string store_key) {
  static_assert(sizeof(Parsed) <= kParsedBytes);
  // Shared by a cache and the queries that run. Made first: the view points into the bytes where they stay.
  const std::shared_ptr<VerifiedValue> value(new VerifiedValue(std::move(bytes), std::move(store_key)));
  BLOOMRING_TRY_ASSIGN(const View view, parse(value->bytes_, value->store_key_, Checksum::kVerify));
  if (!view.has(kHasIndex)) {
    Parts parts;
    BLOOMRING_TRY(decode(view, parts));
  }
  value->parsed_ = std::make_unique<Parsed>(Parsed{view});
  return std::shared_ptr<const VerifiedValue>(value);
}

namespace {

// A filter with an index: all candidates probe the index, and those that hit are looked up in the sets.
struct DenseFilter {
  uint8_t filter = 0;  // Index in order of Query::add.
  View view;
};

struct alignas(64) CacheLine {
  uint8_t bytes[64];
};

}  // namespace

struct Query::Impl {
  explicit Impl(Simd simd) : kernels(simd == Simd::kBest ? best_kernels() : portable_kernels()), table(kernels) {}

  Status add(const View& view);
  void make_room(size_t hits_max) {
    hits.resize(hits_max);
    hit_slots.resize(hits_max);
    index_hits.room = hits_max;
    index_hits.lists.resize(hits_max * kIndexGroupMax);
  }
  void ask_table(std::span<const ItemHash> candidates, uint64_t multiplier, std::span<uint8_t> found);
  void ask_dense(std::span<const DenseFilter> group, std::span<const ItemHash> candidates, uint64_t multiplier,
                 std::span<uint8_t> found);

  // The index, copied where that is quicker. With at least a candidate per cache line, reading the lines in a row into
  // an aligned copy is quicker than missing them one by one (it saves a fifth of a request at 30,000 items a period, a
  // third at 100,000).
  static IndexView bring_near(IndexView index, std::vector<CacheLine>& copy, size_t candidates) {
    const size_t bytes = index.shape.block_count * kBlockBytes;
    const size_t lines = (bytes + sizeof(CacheLine) - 1) / sizeof(CacheLine);
    if (lines > candidates) return index;
    if (copy.size() < lines) copy.resize(lines);
    std::memcpy(copy.data(), index.blocks, bytes);
    index.blocks = copy.data()->bytes;
    return index;
  }

  const Kernels& kernels;
  UnionTable table;
  bool table_is_built = false;
  std::vector<DenseFilter> dense_filters;                   // Point into values that the caller or `values` keep.
  std::vector<std::shared_ptr<const VerifiedValue>> values;
  std::vector<uint32_t> keys;  // Of the candidates.
  std::vector<uint32_t> hits;
  std::vector<uint32_t> hit_slots;
  IndexHits index_hits;
  std::vector<CacheLine> index_copies[kIndexGroupMax];  // Each at most one line per candidate.
  uint8_t filters = 0;
  double expected_error = 0;
  bool saturated = false;
};

Query::Query(Simd simd) : impl_(std::make_unique<Impl>(simd)) {}
Query::~Query() = default;
Query::Query(Query&&) noexcept = default;
Query& Query::operator=(Query&&) noexcept = default;

Status Query::Impl::add(const View& view) {
  if (filters == kFiltersMax) return invalid("a query reads at most 64 filters");
  if (view.has(kHasIndex)) {
    dense_filters.push_back({filters, view});
  } else {
    BLOOMRING_TRY(table.add(filters, view.narrow, view.wide));
    table_is_built = false;
  }
  expected_error += view.expected_error();
  saturated |= view.has(kSaturated);
  ++filters;
  return {};
}

Status Query::add(std::shared_ptr<const VerifiedValue> value) {
  BLOOMRING_TRY(impl_->add(value->parsed_->view));
  impl_->values.push_back(std::move(value));
  return {};
}

Status Query::add(std::string_view value, std::string_view store_key) {
  BLOOMRING_TRY_ASSIGN(const View view, parse(value, store_key, Checksum::kVerify));
  return impl_->add(view);
}

void Query::Impl::ask_table(std::span<const ItemHash> candidates, uint64_t multiplier, std::span<uint8_t> found) {
  if (!table_is_built) table.build();
  table_is_built = true;
  const size_t hit_count = kernels.probe_table(table, keys, hits.data(), hit_slots.data());
  for (size_t h = 0; h < hit_count; ++h) {
    found[hits[h]] = table.resolve(hit_slots[h], candidates[hits[h]].value * multiplier);
  }
}

void Query::Impl::ask_dense(std::span<const DenseFilter> group, std::span<const ItemHash> candidates,
                            uint64_t multiplier, std::span<uint8_t> found) {
  IndexView copies[kIndexGroupMax];
  const IndexView* indexes[kIndexGroupMax];
  for (size_t g = 0; g < group.size(); ++g) {
    copies[g] = bring_near(group[g].view.index, index_copies[g], candidates.size());
    indexes[g] = &copies[g];
  }
  kernels.probe_indexes({indexes, group.size()}, keys, index_hits);
  for (size_t g = 0; g < group.size(); ++g) {
    for (const EliasFanoView* set : {&group[g].view.narrow, &group[g].view.wide}) {
      if (set->items == 0) continue;
      kernels.confirm({*set, candidates, multiplier, group[g].filter}, {index_hits.of(g), index_hits.counts[g]},
                      found.data());
    }
  }
}

void Query::run(std::span<const ItemHash> candidates, std::string_view user_key_bytes, std::span<uint8_t> found) {
  BLOOMRING_CHECK(found.size() == candidates.size(), "one answer for each candidate");
  const uint64_t multiplier = user_multiplier(user_key_bytes);
  std::vector<uint32_t>& keys = impl_->keys;
  keys.resize(candidates.size());
  impl_->make_room(candidates.size() + kHitsMore);
  for (size_t c = 0; c < candidates.size(); ++c)
    keys[c] = static_cast<uint32_t>(candidates[c].value * multiplier >> 32);
  std::fill(found.begin(), found.end(), kUnseen);
  if (!impl_->table.empty()) impl_->ask_table(candidates, multiplier, found);

  // Neighbours with keys of the same width share the work of making masks.
  const std::span<const DenseFilter> dense = impl_->dense_filters;
  for (size_t begin = 0, end = 0; begin < dense.size(); begin = end) {
    const auto key_bits = [&](size_t i) { return dense[i].view.index.shape.key_bits; };
    for (end = begin + 1; end < dense.size() && end - begin < kIndexGroupMax && key_bits(end) == key_bits(begin);)
      ++end;
    impl_->ask_dense(dense.subspan(begin, end - begin), candidates, multiplier, found);
  }
}

double Query::expected_error() const { return impl_->expected_error; }

bool Query::saturated() const { return impl_->saturated; }

void Query::clear() {
  impl_->table.clear();
  impl_->table_is_built = false;
  impl_->dense_filters.clear();
  impl_->values.clear();
  impl_->filters = 0;
  impl_->expected_error = 0;
  impl_->saturated = false;
}

}  // namespace bloomring::filter
