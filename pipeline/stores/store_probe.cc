#include "pipeline/stores/store_probe.h"

#include "base/clock.h"
#include "pipeline/stores/open_stores.h"
#include "pipeline/stores/stored_slots.h"
#include "state/rocksdb/rocks_lock.h"

namespace bloomring {

namespace {

Status look_at(const Settings& settings, StoreProbe& probe) {
  BLOOMRING_TRY_ASSIGN(const Calendar calendar, Calendar::create(settings.retention()));
  const SystemClock clock;
  const StateMemory memory{StateMemoryConfig{}};
  BLOOMRING_TRY_ASSIGN(const FilterStores stores, open_stores(settings, StoreRole::kReads, {calendar, clock, memory}));
  Status refreshed = stores.reader->refresh();
  if (refreshed.code() == Code::kRetry) {  // Without a store, or without servers that tell.
    const auto made = stores.admin->is_made();
    probe.made = !made.ok() || *made;
    if (!probe.made) refreshed = {};
  }
  BLOOMRING_TRY(std::move(refreshed));
  BLOOMRING_TRY_ASSIGN(probe.servers, stores.admin->check_servers());
  BLOOMRING_TRY(check_stored_slots(settings, probe.made ? stores.reader.get() : nullptr));
  if (!probe.made) return {};
  probe.stats = stores.admin->stats();
  return {};
}

}  // namespace

StoreProbe probe_store(const Settings& settings) {
  StoreProbe probe;
  probe.refused = look_at(settings, probe);
  if (const auto folder = settings.store.folder()) probe.writer = rocks_writer(*folder);
  return probe;
}

}  // namespace bloomring
