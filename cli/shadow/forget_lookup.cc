#include "cli/shadow/forget_lookup.h"

#include "base/hash.h"
#include "base/log.h"
#include "pipeline/shadow/forgotten_items.h"
#include "schemas/snapshot.h"

namespace bloomring::cli {

ForgetLookup::ForgetLookup(const Settings& settings, const Calendar& calendar, const Clock& clock, Client& client)
    : settings_(settings), calendar_(calendar), clock_(clock), client_(client), memory_(StateMemoryConfig{}) {
  const Status opened = open_store();
  readable_ = opened.ok();
  if (!readable_)
    log_info("the filter store is not read from here: of forgets of everything, nothing is known",
             {{"reason", opened.message()}});
}

Status ForgetLookup::open_store() {
  BLOOMRING_TRY(check_store_folder(settings_));
  BLOOMRING_TRY_ASSIGN(stores_, open_stores(settings_, StoreRole::kReads, {calendar_, clock_, memory_}));
  return stores_.reader->refresh();
}

Result<std::vector<bool>> ForgetLookup::ask(const FilterCall& call, const std::vector<int64_t>& times_ms) {
  std::vector<bool> forgotten(call.items.size());
  BLOOMRING_TRY_ASSIGN(const std::string blob, client_.snapshot(call.user, call.scene));
  BLOOMRING_TRY_ASSIGN(const Snapshot snapshot, decode_snapshot(blob));
  for (size_t i = 0; i < forgotten.size(); ++i)
    forgotten[i] = is_forgotten(snapshot, calendar_, item_hash(call.items[i]), times_ms[i]);
  if (!readable_ || !stores_.reader->refresh().ok()) return forgotten;
  const UserKey user(settings_.events.scene.empty() ? "" : call.scene, call.user);
  const std::vector<PeriodIndex> window = calendar_.window(clock_.now_ms());
  BLOOMRING_TRY_ASSIGN(const StoredUser stored, read_now(*stores_.reader, user.bytes(), window));
  for (size_t i = 0; i < forgotten.size(); ++i)
    forgotten[i] = forgotten[i] || is_forgotten(stored.forgotten, item_hash(call.items[i]), times_ms[i]);
  return forgotten;
}

}  // namespace bloomring::cli
