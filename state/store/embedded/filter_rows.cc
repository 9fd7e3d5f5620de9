#include "state/store/embedded/filter_rows.h"

#include <memory>

#include "base/faults/fault_point.h"
#include "base/hash.h"
#include "state/store/stored_union.h"

namespace bloomring {

namespace {

// ok when the value may be returned.
Status check_row(const rocksdb::Status& status, std::string_view store_key, std::string_view value) {
  if (!status.ok()) return status_of(status, describe_store_key(store_key));
  return check_stored(value, store_key);
}

// Takes the value of a forgotten key, or its absence. `decode` is one of the two functions of schemas/forgotten.h.
Status read_value(const rocksdb::Status& status, std::string_view store_key, std::string_view value,
                  Forgotten& forgotten, Result<Forgotten> (*decode)(std::string_view, std::string_view)) {
  forgotten = {};
  if (status.IsNotFound()) return {};
  BLOOMRING_TRY(status_of(status, describe_store_key(store_key)));
  BLOOMRING_TRY_ASSIGN(forgotten, decode(value, store_key));
  return {};
}

}  // namespace

Status FilterRows::read(UserRef user, std::span<const PeriodIndex> periods, std::vector<StoredFilter>& out,
                        Forgotten& forgotten) const {
  BLOOMRING_TRY(injected_failure("store.read"));
  const PeriodUnit unit = life.calendar().config().unit;
  const int64_t now_ms = clock.now_ms();
  std::vector<StoredFilter> wanted;
  for (const PeriodIndex period : periods) {
    if (!period_has_key(period) || !life.calendar().kept(user.hash, period, now_ms)) continue;
    wanted.push_back({period, filter_key(user, unit, period), {}});
  }
  // One call is one view of the store, so the filters match the forgotten value.
  const std::string last_key = forgotten_key(user);
  std::vector<rocksdb::Slice> keys;
  for (const StoredFilter& filter : wanted) keys.push_back(slice(filter.store_key));
  keys.push_back(slice(last_key));
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  db.MultiGet(rocksdb::ReadOptions(), db.DefaultColumnFamily(), keys.size(), keys.data(), values.data(),
              statuses.data());
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (statuses[i].IsNotFound()) continue;
    BLOOMRING_TRY(check_row(statuses[i], wanted[i].store_key, view(values[i])));
    wanted[i].value.assign(values[i].data(), values[i].size());
    out.push_back(std::move(wanted[i]));
  }
  return read_value(statuses.back(), last_key, view(values.back()), forgotten, decode_forgotten);
}

Status FilterRows::read_forgotten(std::span<const UserRef> users, std::vector<Forgotten>& out) const {
  std::vector<std::string> store_keys;
  for (const UserRef user : users) store_keys.push_back(forgotten_key(user));
  const std::vector<rocksdb::Slice> keys(store_keys.begin(), store_keys.end());
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  db.MultiGet(rocksdb::ReadOptions(), db.DefaultColumnFamily(), keys.size(), keys.data(), values.data(),
              statuses.data());
  for (size_t i = 0; i < keys.size(); ++i) {
    BLOOMRING_TRY(read_value(statuses[i], store_keys[i], view(values[i]), out.emplace_back(), salvage_forgotten));
  }
  return {};
}

Status FilterRows::scan(const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit) const {
  const rocksdb::Slice end = slice(kFilterKeysEnd);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &end;
  options.fill_cache = false;
  const int64_t now_ms = clock.now_ms();
  const std::unique_ptr<rocksdb::Iterator> row(db.NewIterator(options));
  for (row->Seek(slice(kFilterKeysBegin)); row->Valid(); row->Next()) {
    BLOOMRING_TRY_ASSIGN(const FilterKey key, parse_filter_key(view(row->key())));
    if (!life.kept(key, now_ms)) continue;
    const StoredFilter filter{key.period, row->key().ToString(), row->value().ToString()};
    BLOOMRING_TRY(check_stored(filter.value, filter.store_key));
    if (!visit(filter, key.user_key)) return {};
  }
  return status_of(row->status(), "scan of the filter store");
}

Status FilterRows::walk(ValueKind kind, const std::function<bool(std::string_view)>& wanted,
                        const StoredVisit& visit) const {
  const char tag = static_cast<char>(kind);
  const std::string first(1, tag), end(1, static_cast<char>(tag + 1));
  const rocksdb::Slice end_slice = slice(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &end_slice;
  options.fill_cache = false;
  options.verify_checksums = true;
  const std::unique_ptr<rocksdb::Iterator> row(db.NewIterator(options));
  for (row->Seek(slice(first)); row->Valid(); row->Next()) {
    if (!wanted(view(row->key()))) continue;
    BLOOMRING_TRY_ASSIGN(const bool more, visit(view(row->key()), view(row->value())));
    if (!more) return {};
  }
  return status_of(row->status(), "walk of the filter store");
}

// Each store, and each log of it, has its own key of slot ends.
Result<uint64_t> FilterRows::generation() const {
  BLOOMRING_TRY_ASSIGN(const std::optional<std::string> key, get(kSlotEndKeyKey));
  return hash_bytes(key.value_or(""), hash_bytes("generation", 0));
}

Result<std::optional<std::string>> FilterRows::get(std::string_view key) const {
  std::string value;
  const rocksdb::Status status = db.Get(rocksdb::ReadOptions(), slice(key), &value);
  if (status.IsNotFound()) return std::optional<std::string>();
  BLOOMRING_TRY(status_of(status, "read of the filter store"));
  return std::optional<std::string>(std::move(value));
}

}  // namespace bloomring
