// The forgets that an export has carried out lately, so that a play that is older and comes later is not written.
//
// An old set has no place for a forget: what is removed can be added again by the next record. In bloomring a forget
// holds by event times alone (schemas/event.h). So the export remembers the latest forget of each user and item, and of
// everything of a user, in two generations: when the younger one is full, the elder one is dropped.
//
// Bound: 2 * `generation_entries_max` entries of about 50 bytes. Memory only: a process that starts again knows none.
// Threading: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "schemas/event.h"

namespace bloomring {

class RecentForgets {
 public:
  static constexpr size_t kGenerationEntriesMax = 500'000;

  explicit RecentForgets(size_t generation_entries_max = kGenerationEntriesMax)
      : generation_entries_max_(generation_entries_max) {}

  // Takes a forget.
  void note(uint64_t user_hash, const Event& forget);
  // True when a forget of the item, or of everything, is not before the play.
  bool takes(uint64_t user_hash, const Event& play) const;

 private:
  struct Of {
    uint64_t user;
    uint64_t item;  // 0, which may be an item's hash too: `everything` tells.
    bool everything;
    bool operator==(const Of&) const = default;
  };
  struct Hash {
    size_t operator()(const Of& of) const { return of.user ^ (of.item * 0x9e3779b97f4a7c15) ^ (of.everything ? 1 : 0); }
  };
  using Generation = std::unordered_map<Of, int64_t, Hash>;  // The time of the latest one.
  bool finds(const Of& of, int64_t time_ms) const;

  const size_t generation_entries_max_;
  Generation younger_, elder_;
};

}  // namespace bloomring
