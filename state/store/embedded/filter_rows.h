// Reads the rows of an embedded filter store, for its writer and its followers. Included by sources of this folder
// only.
// Threading: as thread safe as the database.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "state/rocksdb/rocks.h"
#include "state/store/filter_life.h"
#include "state/store/store_admin.h"

namespace bloomring {

// Borrows its members; lives for one call.
struct FilterRows {
  rocksdb::DB& db;
  const FilterLife& life;
  const Clock& clock;

  // As the functions of LocalFilterStore.
  Status read(UserRef user, std::span<const PeriodIndex> periods, std::vector<StoredFilter>& out,
              Forgotten& forgotten) const;
  Status read_forgotten(std::span<const UserRef> users, std::vector<Forgotten>& out) const;
  Status scan(const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit) const;
  // As StoreAdmin says. All of it is one view of the store.
  Status walk(ValueKind kind, const std::function<bool(std::string_view)>& wanted, const StoredVisit& visit) const;
  Result<uint64_t> generation() const;

  // The value under a key that is not a filter key; nothing when there is none.
  Result<std::optional<std::string>> get(std::string_view key) const;
};

}  // namespace bloomring
