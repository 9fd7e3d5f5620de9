#include "client/snapshot_filter.h"

#include <algorithm>

#include "base/hash.h"
#include "filter/exact_set.h"
#include "filter/filter.h"
#include "schemas/snapshot.h"

namespace bloomring {

struct SnapshotFilter::Impl {
  std::string blob;
  Snapshot snapshot;  // Points into the blob.
  ExactSet exact;
  filter::Query query;

  void fill_exact();
  Status fill_query();
  ItemVerdict verdict(ItemHash item, uint8_t tag, uint8_t found) const;
  bool masked(ItemHash item, uint64_t period) const;
};

// Inserts in the order of reasons: the first one of an item stays.
void SnapshotFilter::Impl::fill_exact() {
  exact.reset(snapshot.served.size() + snapshot.recents.size());
  for (const ItemHash item : snapshot.served) exact.insert(item, static_cast<uint8_t>(Reason::kServed));
  for (const Snapshot::Recent& recent : snapshot.recents)
    exact.insert(recent.item, static_cast<uint8_t>(Reason::kRecent));
}

Status SnapshotFilter::Impl::fill_query() {
  for (const Snapshot::Filter& filter : snapshot.filters) BLOOMRING_TRY(query.add(filter.value, filter.store_key));
  return {};
}

bool SnapshotFilter::Impl::masked(ItemHash item, uint64_t period) const {
  const auto place = std::ranges::lower_bound(snapshot.forgotten, item, {}, &Snapshot::Forgotten::item);
  return place != snapshot.forgotten.end() && place->item == item && period >= place->period;
}

ItemVerdict SnapshotFilter::Impl::verdict(ItemHash item, uint8_t tag, uint8_t found) const {
  if (tag != ExactSet::kAbsent) return {true, static_cast<Reason>(tag), {}};
  if (found == filter::Query::kUnseen || masked(item, snapshot.filters[found].period)) return {};
  return {true, Reason::kFilter, std::string(snapshot.periods[snapshot.filters[found].period])};
}

SnapshotFilter::SnapshotFilter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SnapshotFilter::~SnapshotFilter() = default;
SnapshotFilter::SnapshotFilter(SnapshotFilter&&) noexcept = default;
SnapshotFilter& SnapshotFilter::operator=(SnapshotFilter&&) noexcept = default;

Result<SnapshotFilter> SnapshotFilter::open(std::string blob) {
  auto impl = std::make_unique<Impl>();
  impl->blob = std::move(blob);
  BLOOMRING_TRY_ASSIGN(impl->snapshot, decode_snapshot(impl->blob));
  impl->fill_exact();
  BLOOMRING_TRY(impl->fill_query());
  return SnapshotFilter(std::move(impl));
}

std::vector<ItemVerdict> SnapshotFilter::filter(std::span<const std::string> items) {
  std::vector<ItemHash> ids;
  ids.reserve(items.size());
  for (const std::string& item : items) ids.push_back(item_hash(item));
  std::vector<uint8_t> tags(ids.size());
  std::vector<uint8_t> found(ids.size(), filter::Query::kUnseen);
  impl_->exact.find(ids, tags);
  if (!impl_->snapshot.filters.empty()) impl_->query.run(ids, impl_->snapshot.user_key, found);
  std::vector<ItemVerdict> verdicts;
  for (size_t i = 0; i < ids.size(); ++i) verdicts.push_back(impl_->verdict(ids[i], tags[i], found[i]));
  return verdicts;
}

// A user key's bytes are the length of the scene, the scene, the user id (base/ids.h); the decoder has checked them.
std::string_view SnapshotFilter::user() const {
  const std::string_view key = impl_->snapshot.user_key;
  return key.substr(1 + static_cast<uint8_t>(key[0]));
}
std::string_view SnapshotFilter::scene() const {
  const std::string_view key = impl_->snapshot.user_key;
  return key.substr(1, static_cast<uint8_t>(key[0]));
}
bool SnapshotFilter::complete() const { return impl_->snapshot.complete; }
int64_t SnapshotFilter::made_at_ms() const { return impl_->snapshot.made_at_ms; }
double SnapshotFilter::expected_error() const { return impl_->query.expected_error(); }

}  // namespace bloomring
