// A site's old store as the other side of a comparison: what it says of the candidates of a query.
//
//   sets      a candidate is seen when it is a member of any sorted set of the user; its time is the newest score
//   filters   a candidate is seen when any Bloom filter of the user has it
//
// Errors: as LegacyLookup; kBadRecord for a query that has no key in the old store.
// Threading: one thread. Waits.
#pragma once

#include "base/clock.h"
#include "client/filter_call.h"
#include "pipeline/shadow/shadow_comparer.h"
#include "schemas/legacy/legacy_layout.h"
#include "state/legacy/legacy_lookup.h"

namespace bloomring {

class OldStore {
 public:
  struct Config {
    bool filters = false;
    uint64_t cut_members = 0;  // The site cuts its sets at so many members; 0: it does not.
  };
  // All outlive it.
  OldStore(Config config, const LegacyLayout& layout, RedisClient& client, const Clock& clock)
      : config_(config), layout_(layout), lookup_(client), clock_(clock) {}

  Result<OldAnswer> ask(const FilterCall& call);

 private:
  Result<OldAnswer> ask_sets(const FilterCall& call, const std::vector<std::string>& members);
  Result<OldAnswer> ask_filters(const FilterCall& call, const std::vector<std::string>& members);

  const Config config_;
  const LegacyLayout& layout_;
  LegacyLookup lookup_;
  const Clock& clock_;
};

}  // namespace bloomring
