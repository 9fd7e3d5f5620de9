#include "pipeline/settings/write_plan.h"

namespace bloomring {

namespace {

std::string text(uint64_t number) { return std::to_string(number); }

// "3600 s (ring.slot_seconds)".
std::string slot_text(uint64_t slot_s) { return text(slot_s) + " s (ring.slot_seconds)"; }

}  // namespace

WritePlan plan_writes(const Settings& settings) {
  const StoreSettings& store = settings.store;
  const uint64_t rate = store.write_bytes_per_second, users = store.plan_users_per_slot;
  const uint64_t slot_s = settings.ring.slot_seconds;
  if (store.folder() || (rate == 0 && users == 0)) return {};
  const uint64_t each = uint64_t{store.plan_filter_bytes} + kPlanKeyBytes;
  const uint64_t needed = users * each, room = rate * slot_s;
  const std::string each_text =
      text(each) + " bytes (store.plan_filter_bytes " + text(store.plan_filter_bytes) + " and a key of " +
      text(kPlanKeyBytes) + ")";
  const std::string needed_text =
      text(users) + " users (store.plan_users_per_slot) x " + each_text + " = " + text(needed) + " bytes";
  const uint64_t least_rate = (needed + slot_s - 1) / slot_s;
  if (rate == 0)
    return {"store.write_bytes_per_second is 0, no bound: " + needed_text + " in each slot of " + slot_text(slot_s) +
                " are " + text(least_rate) + " bytes a second, which the servers have to take",
            true};
  std::string line = "store.write_bytes_per_second is " + text(rate) + ": " + text(rate) + " x " + slot_text(slot_s) +
                     " = " + text(room) + " bytes in each slot, ";
  if (users == 0) return {line + "or " + text(room / each) + " filters of " + each_text, true};
  line += needed <= room ? "which is enough for " : "which is too little for ";
  line += needed_text;
  if (needed <= room) return {line + ", " + text(needed * 100 / room) + " % of it", true};
  return {line + ", so that merging falls behind with every slot; set it to at least " + text(least_rate) +
              ", or make slots longer: a user's filter is written once in each",
          false};
}

}  // namespace bloomring
